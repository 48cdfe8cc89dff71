"""Algorithms of stable-baselines3: what the toolkit needs to know about each, hyper-parameters and presets."""
