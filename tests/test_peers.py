"""Peers: each is held to the suite by one of tox's environments."""

import configparser
from fnmatch import fnmatch
from pathlib import Path

import pytest

from attnspec.targets import own_names, peer_names

TOX = Path(__file__).parents[1] / "tox.ini"


def patterns():
    """What each environment verifies."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(TOX)
    section = next(name for name in parser.sections() if name.startswith("testenv:peers"))
    lines = (line.partition(": PEERS = ") for line in parser[section]["set_env"].splitlines())
    return {factor.strip(): names.split() for factor, found, names in lines if found}


@pytest.mark.parametrize("name", peer_names())
def test_a_peer_is_verified_in_one_environment(name):
    homes = [home for home, names in patterns().items() if any(fnmatch(name, each) for each in names)]
    assert len(homes) == 1, homes


def test_peers_have_names_of_their_own():
    assert not set(peer_names()) & set(own_names())
