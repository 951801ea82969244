"""What `regard demo` shows: phrases, a translator with one attention, the measurements and their drawing."""
