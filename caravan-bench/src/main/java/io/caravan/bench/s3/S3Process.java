package io.caravan.bench.s3;

import io.caravan.testing.ChildProcess;
import io.caravan.testing.FreePorts;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** An S3 server in its own process, on a loopback port that stays the same after a restart. */
public final class S3Process implements AutoCloseable {
    static final String HOST = "127.0.0.1";

    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long POLL_NANOS = 20_000_000;
    private static final int CONNECT_MILLIS = 2_000;

    private final S3Software software;
    private final Path data;
    private final Path log;
    private final int port;
    private ChildProcess process;

    private S3Process(S3Software software, Path data, Path log, int port, ChildProcess process) {
        this.software = software;
        this.data = data;
        this.log = log;
        this.port = port;
        this.process = process;
    }

    /**
     * Starts an installed server, and waits until it responds.
     *
     * @param work directory for the server's objects and output
     */
    public static S3Process start(S3Software software, Path work) throws IOException {
        Path data = Files.createDirectories(work.resolve("s3"));
        Path log = work.resolve("s3.log");
        int port = FreePorts.next();
        S3Process server = new S3Process(software, data, log, port, process(software, data, log, port));
        try {
            server.awaitResponse();
        } catch (IOException notStarted) {
            server.close();
            throw notStarted;
        }
        return server;
    }

    private static ChildProcess process(S3Software software, Path data, Path log, int port) throws IOException {
        return new ChildProcess(
                software.program().command(data, port), software.program().environment(), log);
    }

    /** Waits for any response to an unauthenticated request. */
    private void awaitResponse() throws IOException {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (true) {
            try {
                HttpURLConnection connection =
                        (HttpURLConnection) endpoint().toURL().openConnection();
                connection.setConnectTimeout(CONNECT_MILLIS);
                connection.setReadTimeout((int) TIMEOUT.toMillis());
                connection.getResponseCode();
                connection.disconnect();
                return;
            } catch (IOException notYet) {
                if (!process.alive() || System.nanoTime() - deadline > 0) {
                    // The log may be in a temporary directory, which will be gone when the message is read.
                    throw new IOException(
                            software + (process.alive() ? " did not respond at " : " ended before it responded at ")
                                    + endpoint() + ". Its output:\n" + process.output(),
                            notYet);
                }
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
    }

    public S3Software software() {
        return software;
    }

    public InetSocketAddress address() {
        return new InetSocketAddress(HOST, port);
    }

    public URI endpoint() {
        return URI.create("http://" + HOST + ":" + port);
    }

    /**
     * Sends SIGKILL, and waits until the process has ended. The output is kept, and so are the objects if they
     * {@linkplain S3Program#keepsObjects() survive}.
     */
    public void kill() throws IOException {
        process.kill();
    }

    /** Restarts the server after a kill, and waits until it responds. */
    public void restart() throws IOException {
        software.program().tidy(data);
        process = process(software, data, log, port);
        awaitResponse();
    }

    /** Sends SIGSTOP, which suspends the server with its connections open until {@link #resume()}. */
    public void pause() throws IOException {
        process.pause();
    }

    /** Sends SIGCONT, which resumes the server. */
    public void resume() throws IOException {
        process.resume();
    }

    /** Kills the process if it is still running. */
    @Override
    public void close() {
        process.close();
    }
}
