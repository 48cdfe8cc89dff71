"""Algorithms of stable-baselines3: what the toolkit has to know about each, their hyper-parameters and presets."""
