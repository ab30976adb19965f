"""Count and time what the server does, for Prometheus."""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_PAIRS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_CHARACTERS = (250, 1_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000)


class Metrics:
    """The figures that one server shows at ``/metrics``."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self.queue_seconds = self._histogram(
            "paraqd_queue_seconds", "Time from a request's arrival until its first pair is taken.", _SECONDS
        )
        self.inference_seconds = self._histogram(
            "paraqd_inference_seconds", "Time from taking a batch until its verdicts are ready.", _SECONDS
        )
        self.batch_pairs = self._histogram("paraqd_batch_pairs", "Pairs in a batch.", _PAIRS)
        self.batch_characters = self._histogram("paraqd_batch_characters", "Characters in a batch.", _CHARACTERS)
        self.request_seconds = Histogram(
            "paraqd_request_seconds",
            "Time from a request's headers until the end of its answer.",
            ["route"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.requests = Counter(
            "paraqd_requests", "Requests by route and status.", ["route", "method", "status"], registry=self.registry
        )
        self.refused = Counter("paraqd_refused", "Requests refused, by reason.", ["reason"], registry=self.registry)
        self.pairs = Counter("paraqd_pairs", "Pairs scored, by who asked.", ["source"], registry=self.registry)
        self.skipped = Counter(
            "paraqd_skipped_pairs", "Pairs that were never scored because nobody waited.", registry=self.registry
        )
        self.waiting = Gauge("paraqd_waiting_pairs", "Pairs of requests in progress.", registry=self.registry)
        self.paraphrasing = Gauge(
            "paraqd_paraphrasing_requests", "Requests for paraphrases in progress.", registry=self.registry
        )
        self.ready = Gauge("paraqd_ready", "1 if the server takes requests.", registry=self.registry)
        self.model = Info("paraqd_model", "The signature of the model.", registry=self.registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(name, text, buckets=buckets, registry=self.registry)

    def text(self) -> bytes:
        """Return all figures in the text form that Prometheus reads."""
        return generate_latest(self.registry)
