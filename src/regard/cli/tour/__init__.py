"""What `regard demo` shows: a small world of phrases, the measurements, and their drawing."""
