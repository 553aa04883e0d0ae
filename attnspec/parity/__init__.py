"""Whether our layers and models compute what the packages that people use compute."""
