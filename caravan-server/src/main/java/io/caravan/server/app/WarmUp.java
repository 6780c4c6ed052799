package io.caravan.server.app;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.net.NetworkLimits;
import io.caravan.server.net.Transport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warms up the append path, so that the JVM compiles it before clients connect: otherwise, the first tens of thousands
 * of requests are interpreted, and wait for hundreds of milliseconds. Appends over sockets to a server of its own, in a
 * temporary directory. If this fails, the actual server starts cold.
 */
public final class WarmUp {
    /** A system property: {@code false} disables the warm-up, for example for short-lived servers in tests. */
    public static final String PROPERTY = "caravan.warm-up";

    private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);

    private static final int ROUNDS = 1_200;
    private static final int CONNECTIONS = 25;
    /** The number of event loops; with only one, the JVM would compile code for one thread, and discard it later. */
    private static final int LOOPS = 2;

    /** The documents of every second request: their sequences get more digits than those of the others. */
    private static final int LONG_DOCUMENTS = 100;
    /** In every second round, each connection sends several requests at once, as it does under load. */
    private static final int PIPELINED = 3;
    /** In one of 16 rounds, it sends as many as arrive at once after a pause of the server. */
    private static final int BACKLOG = 64;

    private static final Duration LIMIT = Duration.ofSeconds(3);
    /** The maximum delay of the end of the process. */
    private static final int END_SECONDS = 5;

    private static final int SEGMENT_BYTES = 4 * 1024 * 1024;
    private static final int VALUE_BYTES = 200;
    /** The number of last bytes of a request among which it is split: a little less than the length of a request. */
    private static final int SPLIT_BYTES = 239;

    private static final int REPLY_BYTES = 64;

    private final CountDownLatch done = new CountDownLatch(1);
    private volatile boolean processEnds;

    private WarmUp() {}

    /**
     * Warms up for up to about three seconds, with a temporary directory in {@code parent}. The directory is also
     * deleted if the process exits in the meantime, for example because the store cannot be opened: a server that is
     * restarted again and again must not fill the disk.
     */
    public static void run(Transport transport, Path parent) {
        if ("false".equals(System.getProperty(PROPERTY))) {
            return;
        }
        WarmUp warmUp = new WarmUp();
        Thread end = new Thread(warmUp::end, "caravan-warm-up-end");
        try {
            Runtime.getRuntime().addShutdownHook(end);
        } catch (IllegalStateException exiting) {
            // The process exits already, and serves no clients.
            return;
        }
        try {
            warmUp.serveIn(parent, transport);
        } finally {
            warmUp.done.countDown();
            removeHook(end);
        }
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException exiting) {
            // The hook is running, and ends now.
        }
    }

    /** Ends the warm-up, and waits until the directory has been deleted. */
    private void end() {
        processEnds = true;
        try {
            if (!done.await(END_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("the warm-up did not end in {} s, and leaves its directory", END_SECONDS);
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
    }

    private void serveIn(Path parent, Transport transport) {
        Path directory = null;
        try {
            LOG.info("warming up with a temporary store in directory '{}'", parent);
            directory = Files.createTempDirectory(parent, "caravan-warm-up");
            serve(directory.resolve("store"), transport);
        } catch (IOException | CaravanException problem) {
            LOG.info(
                    "the server starts cold: it could not be warmed up in directory '{}': {}",
                    parent,
                    problem.toString());
        } finally {
            delete(directory);
        }
    }

    private void serve(Path data, Transport transport) throws IOException {
        StoreConfig store = StoreConfig.builder(data)
                .durability(Durability.SYNC)
                .maxValueBytes(SEGMENT_BYTES / 16)
                .logBufferBytes(SEGMENT_BYTES / 4)
                .logSegmentBytes(SEGMENT_BYTES)
                .heapSegmentBytes(SEGMENT_BYTES)
                .checkpointFloorBytes(SEGMENT_BYTES)
                .build();
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        NetworkConfig network = new NetworkConfig(transport, LOOPS, NetworkLimits.defaults(), null);
        try (ListStore opened = DurableListStore.open(store);
                Server server = Server.start(opened, ServerConfig.of(any, store).withNetwork(network))) {
            append(server.respAddress());
        }
    }

    private void append(InetSocketAddress address) throws IOException {
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < CONNECTIONS; i++) {
                Socket socket = new Socket(address.getAddress(), address.getPort());
                sockets.add(socket);
                socket.setSoTimeout((int) LIMIT.toMillis());
            }
            byte[] buffer = new byte[REPLY_BYTES];
            long deadline = System.nanoTime() + LIMIT.toNanos();
            int sent = 0;
            for (int round = 0; round < ROUNDS && System.nanoTime() < deadline && !processEnds; round++) {
                int requests = round % 16 == 15 ? BACKLOG : round % 2 == 0 ? 1 : PIPELINED;
                for (Socket socket : sockets) {
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    for (int i = 0; i < requests; i++) {
                        bytes.writeBytes(request(document(sent++)));
                    }
                    // The server reads the last request in two parts, which differ from round to round.
                    int part = round % 4 == 3 ? bytes.size() - 1 - round % SPLIT_BYTES : bytes.size();
                    socket.getOutputStream().write(bytes.toByteArray(), 0, part);
                    socket.getOutputStream().write(bytes.toByteArray(), part, bytes.size() - part);
                }
                for (Socket socket : sockets) {
                    readReplies(socket.getInputStream(), requests, buffer);
                }
            }
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    /**
     * Returns the number of the document to which a request appends. Documents are created until the end, because the
     * JVM would otherwise compile code that cannot create documents, and discard it later.
     */
    private static int document(int request) {
        int created = request / 4;
        return switch (request % 4) {
            case 0 -> LONG_DOCUMENTS + created;
            case 1 -> LONG_DOCUMENTS + created / 2;
            default -> request / 2 % LONG_DOCUMENTS;
        };
    }

    private static byte[] request(int document) {
        String name = "document-" + document;
        return ("*3\r\n$5\r\nRPUSH\r\n$" + name.length() + "\r\n" + name + "\r\n$" + VALUE_BYTES + "\r\n"
                        + "v".repeat(VALUE_BYTES) + "\r\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    /** Reads lines in blocks rather than byte by byte, so that the client uses little processor time. */
    private static void readReplies(InputStream in, int count, byte[] buffer) throws IOException {
        int left = count;
        while (left > 0) {
            int length = in.read(buffer);
            if (length < 0) {
                throw new IOException("the server closed the connection");
            }
            for (int i = 0; i < length; i++) {
                left -= buffer[i] == '\n' ? 1 : 0;
            }
        }
    }

    private static void delete(@Nullable Path directory) {
        if (directory == null) {
            return;
        }
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException | UncheckedIOException problem) {
            LOG.warn("directory '{}' could not be deleted: {}", directory, problem.getMessage());
        }
    }
}
