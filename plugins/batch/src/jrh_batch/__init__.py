"""Ask chat models through batch APIs: half the price, answers within a day."""
