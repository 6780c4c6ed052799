package io.caravan.bench.server;

import io.caravan.bench.WorkDirectories;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Turn;
import io.caravan.testing.ChildProcess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** A fresh server in its own process, with a directory that is deleted when the server is closed. */
public final class RunningServer implements RunningSystem {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long POLL_NANOS = 5_000_000;
    private static final double BYTES_PER_MIB = 1 << 20;

    private final MeasuredServer subject;
    private final Path directory;
    private final Ports ports;
    private final ChildProcess process;
    private Duration startTime = Duration.ZERO;

    private RunningServer(MeasuredServer subject, Path directory, Ports ports, ChildProcess process) {
        this.subject = subject;
        this.directory = directory;
        this.ports = ports;
        this.process = process;
    }

    /**
     * Starts a server and waits until it is ready.
     *
     * @param work an existing directory, in which the server's directory is created
     */
    public static RunningServer start(MeasuredServer subject, Path work) throws IOException {
        Path directory = Files.createTempDirectory(work, "server");
        Path data = Files.createDirectory(directory.resolve("data"));
        Ports ports = Ports.free();
        long startNanos = System.nanoTime();
        ChildProcess process = new ChildProcess(subject.command(data, ports), directory.resolve("log"));
        RunningServer server = new RunningServer(subject, directory, ports, process);
        try {
            server.awaitAnnouncement();
            server.startTime = Duration.ofNanos(System.nanoTime() - startNanos);
        } catch (IOException notStarted) {
            server.close();
            throw notStarted;
        }
        return server;
    }

    @FunctionalInterface
    public interface Task {
        void run(RunningServer server) throws IOException, InterruptedException;
    }

    /**
     * Starts a system, runs the task, and stops the system. If the system cannot run here, adds the reason to the
     * results.
     *
     * @param alone whether Caravan is measured without its peers
     */
    public static void with(
            Turn turn, boolean alone, MeasuredServer subject, String workload, Results results, Task task)
            throws IOException, InterruptedException {
        String missing = alone && !(subject instanceof Caravan) ? "left out by --alone" : subject.missing();
        if (missing != null) {
            results.absent(workload, subject.name(), missing);
            return;
        }
        turn.say(workload + ", " + subject.name());
        try (RunningServer server = start(subject, turn.work())) {
            task.run(server);
        }
    }

    private void awaitAnnouncement() throws IOException {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!process.output().contains(subject.announcement())) {
            if (!process.alive()) {
                throw new IOException(subject.name() + " exited before it was ready; it printed: " + process.output());
            }
            if (System.nanoTime() - deadline > 0) {
                throw new IOException(subject.name() + " was not ready within " + TIMEOUT.toSeconds() + " s; it"
                        + " printed: "
                        + process.output());
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    @Override
    public InetSocketAddress address() {
        return new InetSocketAddress(Ports.HOST, ports.resp());
    }

    public InetSocketAddress http() {
        return new InetSocketAddress(Ports.HOST, ports.http());
    }

    /** Returns the time from the start of the process until the server was ready, to within 5 ms. */
    public Duration startTime() {
        return startTime;
    }

    /** Returns the processor time that the server has used, in steps of 10 ms. */
    public Duration cpuTime() throws IOException {
        return process.cpuTime();
    }

    /** Returns the resident memory of the server's process, including that of mapped files. */
    double residentMib() throws IOException {
        return process.residentBytes() / BYTES_PER_MIB;
    }

    /** Kills the server, because its data is no longer needed. */
    @Override
    public void close() throws IOException {
        process.kill();
        WorkDirectories.delete(directory);
    }
}
