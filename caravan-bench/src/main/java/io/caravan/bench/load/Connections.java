package io.caravan.bench.load;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The connections of a load, all served by one thread. */
final class Connections implements AutoCloseable {
    private final Selector selector;
    private final List<LoadConnection> all = new ArrayList<>();

    Connections(InetSocketAddress server, int count, Protocol protocol) throws IOException {
        selector = Selector.open();
        try {
            for (int i = 0; i < count; i++) {
                all.add(new LoadConnection(server, selector, protocol.answers()));
            }
        } catch (IOException notConnected) {
            close();
            throw notConnected;
        }
    }

    List<LoadConnection> all() {
        return Collections.unmodifiableList(all);
    }

    interface Answers {
        /**
         * Called when a reply has arrived. {@code dueNanos} is the time at which its request was due, and {@code error}
         * is true if the reply is an error.
         */
        void answered(LoadConnection connection, long dueNanos, boolean error) throws IOException;
    }

    /**
     * Reads the replies that have arrived, and sends the bytes that the sockets did not accept before.
     *
     * @param waitMillis maximum wait for a reply; 0 for no wait
     * @throws IOException if the server closes a connection
     */
    void serve(long waitMillis, Answers answers) throws IOException {
        if (waitMillis > 0) {
            selector.select(waitMillis);
        } else {
            selector.selectNow();
        }
        for (SelectionKey key : selector.selectedKeys()) {
            LoadConnection connection = (LoadConnection) key.attachment();
            connection.receive((dueNanos, error) -> answers.answered(connection, dueNanos, error));
        }
        selector.selectedKeys().clear();
        for (LoadConnection connection : all) {
            connection.sendRest();
        }
    }

    /** Whether any request is waiting for its reply. */
    boolean waiting() {
        return all.stream().anyMatch(connection -> !connection.unanswered().isEmpty());
    }

    @Override
    public void close() throws IOException {
        for (LoadConnection connection : all) {
            connection.close();
        }
        selector.close();
    }
}
