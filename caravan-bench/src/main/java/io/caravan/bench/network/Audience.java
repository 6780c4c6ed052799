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

/** Clients that follow streams. Told on the event loop, asked by the thread that measures. */
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
     * Creates streams and has each followed.
     *
     * @param name that the streams' names begin with
     * @param modes of the clients of each stream
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

    /** From now on, values that are due in the window count for the distribution. */
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
     * Waits, for a while, until so many values have been heard in all.
     *
     * @return how many never were
     * @throws IOException when a client cannot follow any more
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

    /** Of the values in the window. */
    synchronized Histogram nanos() {
        return nanos.copy();
    }
}
