package io.caravan.testing;

import io.caravan.testing.FaultProxy.Way;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A client's connection through a {@link FaultProxy}: two sockets, and a thread for each direction. */
final class FaultConnection {
    private static final int CHUNK_BYTES = 16 * 1024;
    /** The number of chunks per second that a throttled direction forwards. */
    private static final int THROTTLED_CHUNKS_PER_SECOND = 20;
    /** The maximum time by which a throttled direction may fall behind its rate and still catch up. */
    private static final long CREDIT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final FaultProxy proxy;
    private final Socket client;
    private final Socket server;
    private final CountDownLatch ended = new CountDownLatch(1);

    FaultConnection(FaultProxy proxy, Socket client, Socket server) {
        this.proxy = proxy;
        this.client = client;
        this.server = server;
    }

    void start() {
        FaultProxy.startDaemon("fault-proxy-requests", () -> run(new Forwarding(Way.REQUESTS, client, server)));
        FaultProxy.startDaemon("fault-proxy-responses", () -> run(new Forwarding(Way.RESPONSES, server, client)));
    }

    private void run(Forwarding forwarding) {
        try {
            forwarding.forwardAll();
            end();
        } catch (IOException broken) {
            // One side is gone, or this class has reset the connection. The other side must also see a reset.
            reset();
        }
    }

    /** Resets the connection, so that neither side mistakes its end for a normal close. */
    void reset() {
        try {
            client.setSoLinger(true, 0);
            server.setSoLinger(true, 0);
        } catch (IOException closed) {
            // It was already closed.
        }
        end();
    }

    private void end() {
        ended.countDown();
        proxy.hasEnded(this);
        try {
            client.close();
            server.close();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Forwards the bytes in one direction of the connection. */
    private final class Forwarding {
        private final Way way;
        private final Socket from;
        private final Socket to;
        private final byte[] chunk = new byte[CHUNK_BYTES];
        /** The rule in force for the last chunk. {@link #underRule} counts the bytes forwarded since it took effect. */
        private FaultRule rule;

        private long underRule;
        /** The time at which the last chunk is due at the throttled rate. */
        private long dueNanos;

        Forwarding(Way way, Socket from, Socket to) {
            this.way = way;
            this.from = from;
            this.to = to;
        }

        void forwardAll() throws IOException {
            for (int read = read(); read >= 0; read = read()) {
                if (!follow(read)) {
                    return;
                }
            }
        }

        private int read() throws IOException {
            FaultRule now = proxy.rule();
            int most = now instanceof FaultRule.Throttle throttle
                    ? (int) Math.min(CHUNK_BYTES, Math.max(1, throttle.bytesPerSecond() / THROTTLED_CHUNKS_PER_SECOND))
                    : CHUNK_BYTES;
            return from.getInputStream().read(chunk, 0, most);
        }

        /** Applies the current rule to a chunk before it is forwarded. Returns false if forwarding must end. */
        private boolean follow(int bytes) throws IOException {
            FaultRule now = proxy.rule();
            if (now != rule) {
                rule = now;
                underRule = 0;
                dueNanos = System.nanoTime();
            }
            if (now instanceof FaultRule.Delay delay) {
                await(delay.nanos());
            } else if (now instanceof FaultRule.Throttle throttle) {
                await(throttled(bytes, throttle));
            } else if (now instanceof FaultRule.Cut cut && cut.way() == way) {
                return forwardUntilCut(cut, bytes);
            } else if (now instanceof FaultRule.Response response && way == Way.REQUESTS) {
                return respondOrForward(response, bytes);
            } else if (now instanceof FaultRule.Swallow) {
                return true;
            }
            forward(bytes);
            return true;
        }

        /** Returns how long these bytes must wait to keep within the throttled rate. */
        private long throttled(int bytes, FaultRule.Throttle throttle) {
            long now = System.nanoTime();
            if (dueNanos - (now - CREDIT_NANOS) < 0) {
                dueNanos = now - CREDIT_NANOS;
            }
            dueNanos += TimeUnit.SECONDS.toNanos(bytes) / throttle.bytesPerSecond();
            return dueNanos - now;
        }

        private boolean forwardUntilCut(FaultRule.Cut cut, int bytes) throws IOException {
            if (underRule + bytes <= cut.afterBytes()) {
                forward(bytes);
                return true;
            }
            if (!FaultRule.take(cut.times())) {
                forward(bytes);
                return true;
            }
            forward((int) (cut.afterBytes() - underRule));
            proxy.hasCut();
            reset();
            return false;
        }

        private boolean respondOrForward(FaultRule.Response response, int bytes) throws IOException {
            HttpHead head = HttpHead.at(chunk, bytes);
            if (head == null || !response.requests().test(head) || !FaultRule.take(response.times())) {
                forward(bytes);
                return true;
            }
            head.readRest(from.getInputStream(), chunk, bytes);
            OutputStream out = from.getOutputStream();
            out.write(response.response().bytes());
            out.flush();
            proxy.hasResponded();
            return false;
        }

        private void forward(int bytes) throws IOException {
            to.getOutputStream().write(chunk, 0, bytes);
            underRule += bytes;
            proxy.hasForwarded(bytes);
        }

        /** Waits for this time, or until the connection is closed. */
        private void await(long nanos) throws IOException {
            try {
                if (ended.await(nanos, TimeUnit.NANOSECONDS)) {
                    throw new IOException("ended");
                }
            } catch (InterruptedException unexpected) {
                throw new IOException(unexpected);
            }
        }
    }
}
