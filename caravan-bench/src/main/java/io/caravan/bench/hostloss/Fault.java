package io.caravan.bench.hostloss;

import io.caravan.bench.s3.S3Process;
import io.caravan.testing.FaultProxy;
import io.caravan.testing.HttpAnswer;
import java.io.IOException;
import java.time.Duration;

/** A fault between a server and S3. */
enum Fault {
    ERRORS((proxy, s3) ->
            proxy.answer(Fault.ALL, HttpAnswer.s3(500, "InternalError", "We encountered an internal error."))),
    SLOW_DOWNS(
            (proxy, s3) -> proxy.answer(Fault.ALL, HttpAnswer.s3(503, "SlowDown", "Please reduce your request rate."))),
    DELAYS((proxy, s3) -> proxy.delay(Duration.ofMillis(Fault.DELAY_MILLIS))),
    THROTTLED((proxy, s3) -> proxy.throttle(Fault.BYTES_PER_SECOND)),
    ANSWERS_CUT((proxy, s3) -> proxy.cut(FaultProxy.Way.ANSWERS, Fault.ALL, Fault.CUT_AFTER_BYTES)),
    REQUESTS_CUT((proxy, s3) -> proxy.cut(FaultProxy.Way.REQUESTS, Fault.ALL, Fault.CUT_AFTER_BYTES)),
    BLACK_HOLE((proxy, s3) -> proxy.swallow()),
    /** Kills the S3 server, or suspends it if a kill would lose its objects. */
    SERVER_DOWN((proxy, s3) -> {
        proxy.refuse();
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

    /** Ends a fault that the proxy cannot end. */
    void end(S3Process s3) throws IOException {
        if (this == SERVER_DOWN && s3.software().program().keepsObjects()) {
            s3.restart();
        } else if (this == SERVER_DOWN) {
            s3.resume();
        }
    }
}
