package io.caravan.bench.hostloss;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Connections that write to a server until it is lost. */
final class Load {
    private final List<LoadWorker> workers = new ArrayList<>();
    private volatile boolean ending;

    /**
     * Connects and starts to write.
     *
     * @param rate total requests per second
     */
    Load(List<DocumentHistory> documents, InetSocketAddress server, int connections, int rate, SplittableRandom random)
            throws IOException {
        long intervalNanos = TimeUnit.SECONDS.toNanos(connections) / rate;
        for (int worker = 0; worker < connections; worker++) {
            int owner = worker;
            List<DocumentHistory> own = IntStream.range(0, documents.size())
                    .filter(document -> document % connections == owner)
                    .mapToObj(documents::get)
                    .toList();
            workers.add(new LoadWorker(own, server, random.split(), intervalNanos, () -> ending));
        }
    }

    /** Stops reporting lost connections. */
    void expectEnd() {
        ending = true;
    }

    /** Waits until all connections have ended. */
    void awaitEnd() throws IOException, InterruptedException {
        for (LoadWorker worker : workers) {
            worker.awaitEnd();
        }
    }

    /** Returns the problems. Call this method and the methods below only after {@link #awaitEnd()}. */
    List<String> problems() {
        return workers.stream()
                .map(LoadWorker::problem)
                .filter(Objects::nonNull)
                .toList();
    }

    /** Number of acknowledged changes. */
    long answers() {
        return workers.stream().mapToLong(LoadWorker::answers).sum();
    }

    /** The longest time that a reply took. */
    long longestWaitNanos() {
        return workers.stream().mapToLong(LoadWorker::longestWaitNanos).max().orElse(0);
    }
}
