package io.caravan.bench.server;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import java.io.IOException;
import java.time.Duration;

/** Processor time used by a server and by this program. */
record CpuTimes(long serverNanos, long clientNanos) {
    private static final double MICROS_PER_NANO = 1e-3;

    /** Returns the processor time used since an earlier measurement. */
    CpuTimes since(CpuTimes before) {
        return new CpuTimes(serverNanos - before.serverNanos, clientNanos - before.clientNanos);
    }

    /** Returns the processor time used so far. */
    static CpuTimes now(RunningServer server) throws IOException {
        long client = ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .map(Duration::toNanos)
                .orElseThrow(() -> new IOException("the operating system does not report processor times"));
        return new CpuTimes(server.cpuTime().toNanos(), client);
    }

    /** Adds the server's and the client's processor time per request to a measurement. */
    void addTo(Measurement measurement, long requests) {
        measurement
                .with(Figure.SERVER_CPU_MICROS, serverNanos * MICROS_PER_NANO / requests)
                .with(Figure.CLIENT_CPU_MICROS, clientNanos * MICROS_PER_NANO / requests);
    }
}
