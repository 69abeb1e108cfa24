"""The review: what a person is asked about findings before anything is written, line by line or on the full screen."""
