"""A plain script with stable-baselines3's PPO and 64 cars: ``python -m examples.sb3_ppo [STEPS]``."""

import argparse

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from racer_env import RacerVecEnv

parser = argparse.ArgumentParser(prog="python -m examples.sb3_ppo", description=__doc__)
parser.add_argument("steps", type=int, nargs="?", default=200_000, help="ticks of all cars together (default: 200000)")
steps = parser.parse_args().steps

torch.set_num_threads(1)  # for networks this small, more threads only wait for each other

env = VecNormalize(VecMonitor(RacerVecEnv("track-01", num_envs=64)), gamma=0.99)
env.seed(0)
model = PPO("MlpPolicy", env, n_steps=64, batch_size=1024, learning_rate=1e-3, seed=0, verbose=1)
model.learn(steps)
model.save("models/plain_final")  # python -m training.evaluate --model plain_final
env.save("models/plain_final_vecnormalize.pkl")
env.close()
