package io.caravan.bench.hostloss;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Connections that write to a server until it is gone. */
final class Load {
    private final List<LoadWorker> workers = new ArrayList<>();
    private volatile boolean ending;

    /**
     * Connects and begins.
     *
     * @param rate requests a second, of all connections together
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

    /** From now on a lost connection is no news. */
    void expectEnd() {
        ending = true;
    }

    /** Waits until all have ended. */
    void awaitEnd() throws IOException, InterruptedException {
        for (LoadWorker worker : workers) {
            worker.awaitEnd();
        }
    }

    /** What went wrong; for after the end, as is all that follows. */
    List<String> problems() {
        return workers.stream()
                .map(LoadWorker::problem)
                .filter(Objects::nonNull)
                .toList();
    }

    /** Changes that were answered. */
    long answers() {
        return workers.stream().mapToLong(LoadWorker::answers).sum();
    }

    /** The longest that an answer took. */
    long longestWaitNanos() {
        return workers.stream().mapToLong(LoadWorker::longestWaitNanos).max().orElse(0);
    }
}
