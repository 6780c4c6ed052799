package io.caravan.bench.network;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Clients that follow streams. The event loop delivers values; the measuring thread reads the results. */
final class Audience implements LongConsumer {
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(15);
    private static final int DIGITS = 3;

    private final List<String> streams;
    private final List<Tail> tails = new ArrayList<>();
    private final Histogram nanos = new Histogram(DIGITS);
    private @Nullable Window window;
    private long heard;

    private Audience(List<String> streams) {
        this.streams = streams;
    }

    /**
     * Creates streams and starts clients that follow them.
     *
     * @param name prefix of the streams' names
     * @param modes one client for each mode follows each stream
     */
    static Audience gather(HttpClient client, String name, int streams, List<String> modes)
            throws IOException, InterruptedException {
        Audience audience = new Audience(
                IntStream.range(0, streams).mapToObj(i -> name + "-" + i).toList());
        List<String> offsets = Requests.createAll(client.connect(), audience.streams);
        for (int i = 0; i < streams; i++) {
            for (String mode : modes) {
                audience.add(client.connect(), audience.streams.get(i), offsets.get(i), mode);
            }
        }
        audience.tails.forEach(Tail::ask);
        return audience;
    }

    private void add(HttpLink link, String stream, String offset, String mode) {
        tails.add(
                mode.equals(LongPollTail.MODE)
                        ? new LongPollTail(link, stream, offset, this)
                        : new EventStreamTail(link, stream, offset, this));
    }

    List<String> streams() {
        return Collections.unmodifiableList(streams);
    }

    /** From now on, records the latencies of values that are due in the window. */
    synchronized void measure(Window when) {
        window = when;
    }

    @Override
    public synchronized void accept(long stamp) {
        if (window != null && window.contains(stamp)) {
            nanos.recordValue(Math.max(0, System.nanoTime() - stamp));
        }
        heard++;
        notifyAll();
    }

    /**
     * Waits until this many values have arrived in total, up to a time limit.
     *
     * @return the number of missing values
     * @throws IOException when a client can no longer follow
     */
    synchronized long awaitHeard(long expected) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (heard < expected && System.nanoTime() - deadline < 0) {
            TimeUnit.NANOSECONDS.timedWait(this, deadline - System.nanoTime());
        }
        checkTails();
        return expected - heard;
    }

    private void checkTails() throws IOException {
        List<String> problems =
                tails.stream().map(Tail::problem).filter(Objects::nonNull).toList();
        if (!problems.isEmpty()) {
            throw new IOException(
                    problems.size() + " of " + tails.size() + " tails ended, the first because " + problems.get(0));
        }
    }

    /** Latencies of the values in the window. */
    synchronized Histogram nanos() {
        return nanos.copy();
    }
}
