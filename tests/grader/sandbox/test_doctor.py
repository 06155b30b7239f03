"""``python -m grader doctor`` reports what works and how to fix the rest."""

from __future__ import annotations

from grader.sandbox import doctor
from tests.grader.sandbox.probes import need_bubblewrap


def test_the_doctor_reports_a_working_machine():
    need_bubblewrap()
    found = doctor.checks()
    assert [name for name, well, _ in found if not well] == []
    assert [name for name, *_ in found] == [
        "system",
        "bubblewrap",
        "user namespaces",
        "session",
        "user",
        "network",
        "memory",
        "time",
    ]


def test_the_doctor_says_what_to_install_and_what_works_without(monkeypatch):
    monkeypatch.setattr(doctor, "find_bubblewrap", lambda: None)
    found = {name: (well, sentence) for name, well, sentence in doctor.checks()}
    well, sentence = found["bubblewrap"]
    assert not well
    assert "apt-get install bubblewrap" in sentence
    assert found["isolation none"][0]
    assert "read and change whatever you can" in found["isolation none"][1]


def test_the_doctor_names_the_kernel_setting_that_is_off(monkeypatch):
    monkeypatch.setattr(doctor, "_content", lambda path: "1" if "apparmor" in path else None)
    name, well, sentence = doctor._user_namespaces()
    assert (name, well) == ("user namespaces", False)
    assert sentence.endswith("sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
