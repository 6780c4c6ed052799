package io.caravan.torture.hostloss;

import io.caravan.bench.s3.S3Process;
import io.caravan.testing.CannedResponse;
import io.caravan.testing.FaultProxy;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Uses a proxy to produce one fault after another between a server and the S3 server of its archive. During the last
 * fault, the S3 server is always down.
 */
final class FaultCourse implements AutoCloseable {
    private static final int FAULTS = 3;
    private static final int LONGEST_FAULT_MILLIS = 2_000;
    /**
     * The duration of the last fault: longer than any reply may take, so that a reply that waits for the archive is
     * detected.
     */
    private static final int DOWN_MILLIS = 4_000;

    private final S3Process s3;
    private final FaultProxy proxy;
    private final SplittableRandom random;

    FaultCourse(S3Process s3, SplittableRandom random) throws IOException {
        this.s3 = s3;
        this.random = random;
        proxy = FaultProxy.before(s3.address().getPort());
    }

    URI endpoint() {
        return URI.create("http://127.0.0.1:" + proxy.port());
    }

    /** An action that inspects the server while the S3 server is down. */
    interface Inspection {
        void inspect() throws IOException;
    }

    /** Produces the faults; returns when S3 works again and no earlier connection is left. */
    void run(Inspection whileDown) throws IOException, InterruptedException {
        Fault[] faults = Fault.values();
        for (int i = 0; i < FAULTS; i++) {
            Fault fault = faults[random.nextInt(faults.length)];
            fault.begin(proxy, s3);
            TimeUnit.MILLISECONDS.sleep(1 + random.nextInt(LONGEST_FAULT_MILLIS));
            fault.end(s3);
        }
        Fault.SERVER_DOWN.begin(proxy, s3);
        TimeUnit.MILLISECONDS.sleep(DOWN_MILLIS);
        whileDown.inspect();
        Fault.SERVER_DOWN.end(s3);
        proxy.pass();
    }

    @Override
    public void close() throws IOException {
        proxy.close();
    }

    /** A fault in the connections to S3 or in the S3 server itself. */
    private enum Fault {
        ERRORS((proxy, s3) -> proxy.response(
                Fault.ALL, CannedResponse.s3(500, "InternalError", "We encountered an internal error."))),
        SLOW_DOWNS((proxy, s3) ->
                proxy.response(Fault.ALL, CannedResponse.s3(503, "SlowDown", "Please reduce your request rate."))),
        DELAYS((proxy, s3) -> proxy.delay(Duration.ofMillis(Fault.DELAY_MILLIS))),
        THROTTLED((proxy, s3) -> proxy.throttle(Fault.BYTES_PER_SECOND)),
        RESPONSES_CUT((proxy, s3) -> proxy.cut(FaultProxy.Way.RESPONSES, Fault.ALL, Fault.CUT_AFTER_BYTES)),
        REQUESTS_CUT((proxy, s3) -> proxy.cut(FaultProxy.Way.REQUESTS, Fault.ALL, Fault.CUT_AFTER_BYTES)),
        BLACK_HOLE((proxy, s3) -> proxy.swallow()),
        /** Kills the S3 server, or suspends it if a kill would lose its objects. */
        SERVER_DOWN((proxy, s3) -> {
            proxy.reject();
            if (s3.software().program().keepsObjects()) {
                s3.kill();
            } else {
                s3.pause();
            }
        });

        private static final int ALL = Integer.MAX_VALUE;
        private static final long DELAY_MILLIS = 700;
        private static final long BYTES_PER_SECOND = 2_000;
        private static final long CUT_AFTER_BYTES = 300;

        private final Begin begin;

        Fault(Begin begin) {
            this.begin = begin;
        }

        private interface Begin {
            void on(FaultProxy proxy, S3Process s3) throws IOException;
        }

        void begin(FaultProxy proxy, S3Process s3) throws IOException {
            begin.on(proxy, s3);
        }

        /** Restores the S3 server itself after this fault, but not the proxy. */
        void end(S3Process s3) throws IOException {
            if (this == SERVER_DOWN && s3.software().program().keepsObjects()) {
                s3.restart();
            } else if (this == SERVER_DOWN) {
                s3.resume();
            }
        }
    }
}
