package io.caravan.torture.hostloss;

import io.caravan.bench.client.RespConnection;
import io.caravan.bench.client.RespConnection.Reply;
import io.caravan.torture.model.ListModel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Writes to a server over many connections until the server is lost. */
final class Load {
    private final List<LoadWorker> workers = new ArrayList<>();
    private volatile boolean ending;

    /**
     * Connects to the server and starts to write.
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

    /** Stops reporting lost connections as problems. */
    void expectEnd() {
        ending = true;
    }

    /** Waits until all connections have ended, which they do when the server is lost. */
    void awaitEnd() throws IOException, InterruptedException {
        for (LoadWorker worker : workers) {
            worker.awaitEnd();
        }
    }

    /** Returns the problems found. Call this method and the methods below only after {@link #awaitEnd()}. */
    List<String> problems() {
        return workers.stream()
                .map(worker -> worker.problem)
                .filter(Objects::nonNull)
                .toList();
    }

    /** Returns the number of acknowledged changes. */
    long acknowledged() {
        return workers.stream().mapToLong(worker -> worker.acknowledged).sum();
    }

    /** Returns the longest time that a reply took, in nanoseconds. */
    long longestWaitNanos() {
        return workers.stream()
                .mapToLong(worker -> worker.longestWaitNanos)
                .max()
                .orElse(0);
    }

    /**
     * One connection that writes to its own documents at a steady rate, waiting for each reply. As in practice, a few
     * documents change all the time and most change rarely.
     */
    private static final class LoadWorker {
        private static final int MAX_APPENDED = 5;
        /** The number of values at which a document is trimmed to a few values, as after a snapshot. */
        private static final int LONG = 60;

        private static final int LARGE_LONG = 80;
        private static final int LARGE_KEPT = 50;

        private final List<DocumentHistory> documents;
        private final RespConnection connection;
        private final SplittableRandom random;
        private final long intervalNanos;
        private final BooleanSupplier ending;
        private final Thread thread;
        /** The problem found, or null. This and the fields below are complete after {@link #awaitEnd()}. */
        @Nullable
        String problem;

        /** The number of changes to this worker's documents that the server has acknowledged. */
        long acknowledged;
        /** The longest time that a reply to this worker took. */
        long longestWaitNanos;

        /**
         * Connects to the server and starts to write.
         *
         * @param intervalNanos time between two requests, if replies arrive in time
         * @param ending whether losing the connection is expected
         */
        LoadWorker(
                List<DocumentHistory> documents,
                InetSocketAddress server,
                SplittableRandom random,
                long intervalNanos,
                BooleanSupplier ending)
                throws IOException {
            this.documents = documents;
            this.random = random;
            this.intervalNanos = intervalNanos;
            this.ending = ending;
            connection = new RespConnection(server);
            thread = new Thread(this::run, "load");
            thread.setDaemon(true);
            thread.start();
        }

        private void run() {
            try {
                long due = System.nanoTime();
                while (problem == null) {
                    change(documents.get(any()));
                    due = Math.max(due + intervalNanos, System.nanoTime());
                    LockSupport.parkNanos(due - System.nanoTime());
                }
            } catch (IOException lost) {
                if (!ending.getAsBoolean()) {
                    problem = "a connection was lost: " + lost;
                }
            }
        }

        /** Chooses the document to change next: half of the changes go to an eighth of the documents. */
        private int any() {
            double dice = random.nextDouble();
            return (int) (dice * dice * dice * documents.size());
        }

        private void change(DocumentHistory document) throws IOException {
            ListModel latest = document.latest();
            int held = latest == null ? 0 : latest.count();
            int dice = random.nextInt(100);
            if (latest != null && held > (document.large() ? LARGE_LONG : LONG)) {
                trim(document, latest.nextSequence() - random.nextInt(document.large() ? LARGE_KEPT : 4));
            } else if (latest == null || dice < 80) {
                append(document);
            } else if (dice < 95) {
                trim(document, latest.firstSequence() + random.nextLong(held + 1));
            } else {
                delete(document, held);
            }
        }

        private void append(DocumentHistory document) throws IOException {
            List<byte[]> values = document.append(1 + random.nextInt(document.large() ? 2 : MAX_APPENDED));
            List<byte[]> words = new ArrayList<>(List.of(RespConnection.ascii("RPUSH"), document.name()));
            words.addAll(values);
            call(document, Objects.requireNonNull(document.latest()).count(), words.toArray(byte[][]::new));
        }

        private void trim(DocumentHistory document, long firstSequence) throws IOException {
            document.trim(firstSequence);
            call(
                    document,
                    firstSequence,
                    RespConnection.ascii("CARAVAN.TRIM"),
                    document.name(),
                    RespConnection.ascii("TO"),
                    RespConnection.ascii(Long.toString(firstSequence)));
        }

        private void delete(DocumentHistory document, long held) throws IOException {
            document.delete();
            call(document, Math.min(1, held), RespConnection.ascii("DEL"), document.name());
        }

        private void call(DocumentHistory document, long expected, byte[]... words) throws IOException {
            long startNanos = System.nanoTime();
            connection.send(words);
            Reply reply = connection.receive();
            long now = System.nanoTime();
            if (reply == null) {
                throw new IOException("the server closed the connection");
            }
            if (Long.toString(expected).equals(reply.text())) {
                document.acknowledged(now);
                acknowledged++;
                longestWaitNanos = Math.max(longestWaitNanos, now - startNanos);
            } else {
                problem = document + " got the reply " + reply.words() + " instead of " + expected;
            }
        }

        /** Waits until the worker ends, which happens when its connection is lost. */
        void awaitEnd() throws IOException, InterruptedException {
            thread.join();
            connection.close();
        }
    }
}
