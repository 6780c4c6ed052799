package io.caravan.bench.server;

import io.caravan.bench.load.Followers;
import io.caravan.bench.load.HttpAppends;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Measures the time from an append until the followers of the stream receive it, and the memory of a server with many
 * followed streams.
 */
final class HttpFollowers implements Measure {
    private static final Figure RESIDENT_MIB = new Figure("resident memory, MiB", "%,.0f");
    private static final Figure ADDED_MIB = new Figure("added by streams and followers, MiB", "%,.0f");
    /** Fewer than the 10,000 connections that Caravan accepts by default. */
    private static final int MOST_STREAMS = 9_000;

    private static final int RESERVED_FILES = 500;
    private static final int VALUE_BYTES = 200;
    private static final int PAUSE_MILLIS = 20;

    private final Results results = new Results();
    private final boolean alone;
    private final int followers;
    private final int warmUp;
    private final int appends;
    private final int streams;

    HttpFollowers(boolean quick, boolean alone) {
        this.alone = alone;
        followers = quick ? 50 : 1_000;
        warmUp = quick ? 2 : 500;
        appends = quick ? 5 : 100;
        streams = quick ? 50 : followedStreams();
    }

    /** Returns the number of streams that a server can follow here if it needs two files for each. */
    private static int followedStreams() {
        try {
            Object files = ManagementFactory.getPlatformMBeanServer()
                    .getAttribute(
                            new ObjectName(ManagementFactory.OPERATING_SYSTEM_MXBEAN_NAME), "MaxFileDescriptorCount");
            long most = (Long) files;
            return most < 0 ? MOST_STREAMS : (int) Math.max(1, Math.min(MOST_STREAMS, (most - RESERVED_FILES) / 2));
        } catch (JMException missing) {
            throw new UnsupportedOperationException("this JVM does not report how many files it may open", missing);
        }
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        String fanOut = String.format(Locale.ROOT, "append to %,d followers of one stream", followers);
        String memory = String.format(Locale.ROOT, "%,d streams with one follower each", streams);
        for (MeasuredServer subject : turn.inTurn(HttpRates.SUBJECTS)) {
            RunningServer.with(
                    turn,
                    alone,
                    subject,
                    fanOut,
                    results,
                    server -> results.add(fanOut, subject.name(), subject.durability(), latencies(server)));
            RunningServer.with(
                    turn,
                    alone,
                    subject,
                    memory,
                    results,
                    server -> results.add(memory, subject.name(), subject.durability(), memory(server)));
        }
    }

    private Measurement latencies(RunningServer server) throws IOException, InterruptedException {
        HttpAppends stream = new HttpAppends("followed", 1, VALUE_BYTES);
        stream.createStreams(server.http());
        try (Followers opened = new Followers(server.http(), stream, followers)) {
            opened.latencies(warmUp, followers, PAUSE_MILLIS);
            return new Measurement()
                    .latencies(opened.latencies(appends, followers, PAUSE_MILLIS), TimeUnit.NANOSECONDS);
        }
    }

    private Measurement memory(RunningServer server) throws IOException {
        double before = server.residentMib();
        HttpAppends all = new HttpAppends("followed", streams, VALUE_BYTES);
        all.createStreams(server.http());
        try (Followers opened = new Followers(server.http(), all, streams)) {
            double after = server.residentMib();
            return new Measurement().with(RESIDENT_MIB, after).with(ADDED_MIB, after - before);
        }
    }

    @Override
    public Table table() {
        return new Table(
                "Followers over HTTP",
                "Each follower has a connection of its own and receives server-sent events. Values of " + VALUE_BYTES
                        + " bytes are appended to one stream, each " + PAUSE_MILLIS
                        + " ms after all followers have received the previous one; " + warmUp + " to warm up, then "
                        + appends + ". The times start when the append is sent, and end when a follower receives it."
                        + " The memory is the resident set of the server's process, and the followers are idle. The"
                        + " number of streams is limited by the files that a process may open.",
                results);
    }
}
