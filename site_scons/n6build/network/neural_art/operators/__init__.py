"""What operators become on the NPU: one module each, with the reasons for which one stays on the CPU."""
