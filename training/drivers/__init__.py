"""Whatever drives a car from an observation: trained models, exported ones, and one by rule."""
