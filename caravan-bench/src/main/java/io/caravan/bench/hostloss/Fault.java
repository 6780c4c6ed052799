package io.caravan.bench.hostloss;

import io.caravan.bench.s3.S3Server;
import io.caravan.testing.FaultProxy;
import io.caravan.testing.HttpAnswer;
import java.io.IOException;
import java.time.Duration;

/** A fault between a server and S3. */
enum Fault {
    ERRORS {
        @Override
        void begin(FaultProxy proxy, S3Server s3) {
            proxy.answer(ALL, HttpAnswer.s3(500, "InternalError", "We encountered an internal error."));
        }
    },
    SLOW_DOWNS {
        @Override
        void begin(FaultProxy proxy, S3Server s3) {
            proxy.answer(ALL, HttpAnswer.s3(503, "SlowDown", "Please reduce your request rate."));
        }
    },
    DELAYS {
        @Override
        void begin(FaultProxy proxy, S3Server s3) {
            proxy.delay(DELAY);
        }
    },
    THROTTLED {
        @Override
        void begin(FaultProxy proxy, S3Server s3) {
            proxy.throttle(BYTES_PER_SECOND);
        }
    },
    ANSWERS_CUT {
        @Override
        void begin(FaultProxy proxy, S3Server s3) {
            proxy.cut(FaultProxy.Way.ANSWERS, ALL, CUT_AFTER_BYTES);
        }
    },
    REQUESTS_CUT {
        @Override
        void begin(FaultProxy proxy, S3Server s3) {
            proxy.cut(FaultProxy.Way.REQUESTS, ALL, CUT_AFTER_BYTES);
        }
    },
    BLACK_HOLE {
        @Override
        void begin(FaultProxy proxy, S3Server s3) {
            proxy.swallow();
        }
    },
    /** Kills the S3 server, or stops it cleanly if a kill would lose its objects. */
    SERVER_DOWN {
        @Override
        void begin(FaultProxy proxy, S3Server s3) throws IOException {
            proxy.refuse();
            if (s3.software().keepsObjects()) {
                s3.kill();
            } else {
                s3.pause();
            }
        }

        @Override
        void end(S3Server s3) throws IOException {
            if (s3.software().keepsObjects()) {
                s3.restart();
            } else {
                s3.resume();
            }
        }
    };

    private static final int ALL = Integer.MAX_VALUE;
    private static final Duration DELAY = Duration.ofMillis(700);
    private static final long BYTES_PER_SECOND = 2_000;
    private static final long CUT_AFTER_BYTES = 300;

    abstract void begin(FaultProxy proxy, S3Server s3) throws IOException;

    /** Repairs what the proxy cannot. */
    void end(S3Server s3) throws IOException {}
}
