package io.caravan.bench.network;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import java.io.IOException;
import java.time.Duration;

/** Processor time that a server and this program have used. */
record CpuTimes(long serverNanos, long clientNanos) {
    private static final double MICROS_PER_NANO = 1e-3;

    /** Waits until the window is over, and tells what was used in it. */
    static CpuTimes during(Window window, RunningServer server) throws IOException, InterruptedException {
        window.awaitStart();
        CpuTimes before = now(server);
        window.awaitEnd();
        CpuTimes after = now(server);
        return new CpuTimes(after.serverNanos - before.serverNanos, after.clientNanos - before.clientNanos);
    }

    private static CpuTimes now(RunningServer server) throws IOException {
        long client = ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .map(Duration::toNanos)
                .orElseThrow(() -> new IOException("the operating system does not tell processor times"));
        return new CpuTimes(server.cpuTime().toNanos(), client);
    }

    /** Adds what one request has cost each of them. */
    void addTo(Measurement measurement, long requests) {
        measurement
                .with(Figure.SERVER_CPU_MICROS, serverNanos * MICROS_PER_NANO / requests)
                .with(Figure.CLIENT_CPU_MICROS, clientNanos * MICROS_PER_NANO / requests);
    }
}
