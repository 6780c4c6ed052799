package io.caravan.torture.embedded;

import io.caravan.testing.ChildJvm;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A Unix domain socket on which a supervisor receives reports from its child processes.
 *
 * <p>Bytes that a child has written stay readable after the child is killed, because the kernel buffers them. This also
 * applies to a pipe, but when the process exits, {@link Process} drains its pipes on its own thread, which races with
 * the reader.
 */
public final class LocalSocket implements AutoCloseable {
    private static final long POLL_NANOS = 1_000_000;

    private final Path directory;
    private final Path path;
    private final ServerSocketChannel server;

    private LocalSocket(Path directory, Path path, ServerSocketChannel server) {
        this.directory = directory;
        this.path = path;
        this.server = server;
    }

    /** Listens on a socket in a new directory whose path is short enough for a socket address. */
    public static LocalSocket listen() throws IOException {
        Path directory = Files.createTempDirectory("caravan");
        Path path = directory.resolve("socket");
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(path));
        server.configureBlocking(false);
        return new LocalSocket(directory, path, server);
    }

    /** Connects to the socket with this path. */
    public static SocketChannel connect(Path path) throws IOException {
        return SocketChannel.open(UnixDomainSocketAddress.of(path));
    }

    public Path path() {
        return path;
    }

    /**
     * Waits until a child has connected.
     *
     * @return the connection, or null if the child exited without connecting
     */
    public @Nullable SocketChannel accept(ChildJvm child, Duration timeout) throws IOException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (System.nanoTime() < deadline) {
            boolean alive = child.alive();
            SocketChannel channel = server.accept();
            if (channel != null) {
                return channel;
            }
            if (!alive) {
                return null;
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        throw new IOException(
                "the child did not connect in " + timeout.toSeconds() + " s; its output is in " + child.log());
    }

    @Override
    public void close() throws IOException {
        server.close();
        Files.deleteIfExists(path);
        Files.deleteIfExists(directory);
    }
}
