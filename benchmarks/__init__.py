"""Speed, peers side by side, strength; recorded results with machine, command and date."""
