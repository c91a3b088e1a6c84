"""The simulated shell: virtual time, links, faults and checkers, around the code that ships."""
