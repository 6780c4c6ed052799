package io.caravan.torture.server;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.FlushPolicy;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.server.app.Server;
import io.caravan.server.app.ServerConfig;
import io.caravan.testing.ForwardingListStore;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Runs the real server with a faulty wrapper around its store. The nested main class determines the fault. */
final class LyingServer {
    private static final int EVERY = 100;
    /** The flush delay of a server that acknowledges writes too early: longer than a round. */
    private static final Duration LATE = Duration.ofSeconds(2);

    private static final WriteCallback NO_CALLBACK = new WriteCallback() {
        @Override
        public void success(long sequence) {}

        @Override
        public void failure(CaravanException problem) {}
    };

    private LyingServer() {}

    /** Handles a write incorrectly. */
    private interface Lie {
        void write(ListStore store, WriteBatch batch, WriteCallback callback);
    }

    /** Acknowledges each write when it is accepted, before it is durable. */
    static final class RepliesEarly {
        public static void main(String[] arguments) throws IOException {
            serve(arguments, FlushPolicy.fixedDelay(LATE), (store, batch, callback) -> {
                store.write(batch, NO_CALLBACK);
                callback.success(0);
            });
        }
    }

    /** Acknowledges some writes without executing them. */
    static final class LosesWrites {
        public static void main(String[] arguments) throws IOException {
            AtomicLong writes = new AtomicLong();
            serve(arguments, FlushPolicy.immediate(), (store, batch, callback) -> {
                boolean forgotten = writes.incrementAndGet() % EVERY == 0;
                store.write(forgotten ? WriteBatch.create() : batch, callback);
            });
        }
    }

    /** Starts the server with a faulty store. Evaluates only the arguments that the harness uses. */
    private static void serve(String[] arguments, FlushPolicy policy, Lie lie) throws IOException {
        List<String> words = List.of(arguments);
        StoreConfig config = StoreConfig.builder(Path.of(words.get(words.indexOf("--data") + 1)))
                .maxValueBytes(Integer.parseInt(words.get(words.indexOf("--max-value") + 1)))
                .flushPolicy(policy)
                .build();
        String[] address = words.get(words.indexOf("--resp") + 1).split(":");
        InetSocketAddress resp = new InetSocketAddress(address[0], Integer.parseInt(address[1]));
        Server.start(lying(DurableListStore.open(config), lie), ServerConfig.of(resp, config));
        // The real server also exits with 0 on SIGTERM.
        Runtime.getRuntime()
                .addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
        System.out.println("caravan serves RESP on " + String.join(":", address) + ", but lies");
    }

    private static ListStore lying(ListStore store, Lie lie) {
        return new ForwardingListStore(store) {
            @Override
            public void write(WriteBatch batch, WriteCallback callback) {
                lie.write(store, batch, callback);
            }
        };
    }
}
