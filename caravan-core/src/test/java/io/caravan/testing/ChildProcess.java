package io.caravan.testing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * A program in its own process, which a test can kill.
 *
 * <p>Its standard output and error go to a file. A child stops cleanly when it reads the end of its standard input,
 * which {@link #requestStop()} closes. When this JVM exits, it kills all children that are still running.
 */
public class ChildProcess implements AutoCloseable {
    /** The exit status of a process killed by SIGKILL: 128 plus the number of the signal. */
    public static final int KILLED = 128 + 9;

    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long DUMP_MILLIS = 500;

    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(() -> RUNNING.forEach(Process::destroyForcibly), "kill-children"));
    }

    private final Process process;
    private final Path log;
    private final long logStart;

    /** Starts a program and appends its output to {@code log}. */
    public ChildProcess(List<String> command, Path log) throws IOException {
        this(command, Map.of(), log);
    }

    /**
     * Starts a program and appends its output to {@code log}.
     *
     * @param environment variables in addition to those of this program
     */
    public ChildProcess(List<String> command, Map<String, String> environment, Path log) throws IOException {
        this.log = log;
        logStart = Files.exists(log) ? Files.size(log) : 0;
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().putAll(environment);
        process = builder.start();
        RUNNING.add(process);
        process.onExit().thenAccept(RUNNING::remove);
    }

    public long pid() {
        return process.pid();
    }

    /** Returns the processor time that the process has used; on Linux, in steps of 10 ms. */
    public Duration cpuTime() throws IOException {
        return process.info()
                .totalCpuDuration()
                .orElseThrow(() -> new IOException("the operating system does not report how much processor time "
                        + process.pid() + " has used, or it has ended; its output is in " + log));
    }

    /** Returns the resident memory of the process, as Linux reports it. */
    public long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid()), "status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        throw new IOException("the operating system does not report the memory of " + pid());
    }

    /** Returns the file that receives the output of the child. */
    public Path log() {
        return log;
    }

    /** Returns the output of the child so far, provided that no other process writes to the same log. */
    public String output() throws IOException {
        try (InputStream in = Files.newInputStream(log)) {
            in.skipNBytes(logStart);
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    public boolean alive() {
        return process.isAlive();
    }

    /** Sends SIGKILL, waits until the process has ended, and returns the exit status. */
    public int kill() throws IOException {
        process.destroyForcibly();
        return awaitExit();
    }

    /** Sends SIGTERM. */
    public void terminate() {
        process.destroy();
    }

    /** Sends SIGSTOP. The child is suspended until {@link #resume()}, but can still be killed. */
    public void pause() throws IOException {
        signal("STOP");
    }

    /** Sends SIGCONT. */
    public void resume() throws IOException {
        signal("CONT");
    }

    /** Makes the child dump its threads to its output if it is still running. */
    public void explainIfAlive() {
        if (!alive()) {
            return;
        }
        try {
            signal("QUIT");
            process.waitFor(DUMP_MILLIS, TimeUnit.MILLISECONDS);
        } catch (IOException gone) {
            // It has just exited, so there are no threads to dump.
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sends a signal. Java itself can send only SIGTERM and SIGKILL. */
    private void signal(String name) throws IOException {
        Process sender = new ProcessBuilder("sh", "-c", "kill -" + name + " " + process.pid())
                .redirectErrorStream(true)
                .start();
        int status = awaitExit(sender, TIMEOUT);
        if (status != 0) {
            throw new IOException("the child process " + process.pid() + " could not be sent SIG" + name + ": "
                    + new String(sender.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    /** Closes the standard input of the child. */
    public void requestStop() throws IOException {
        process.getOutputStream().close();
    }

    /** Waits for the child to exit and returns its exit status. Fails after a minute. */
    public int awaitExit() throws IOException {
        return awaitExit(TIMEOUT);
    }

    /** Waits for the child to exit and returns its exit status. Fails when that takes longer than {@code timeout}. */
    public int awaitExit(Duration timeout) throws IOException {
        return awaitExit(process, timeout);
    }

    private int awaitExit(Process child, Duration timeout) throws IOException {
        try {
            if (!child.waitFor(timeout.toSeconds(), TimeUnit.SECONDS)) {
                throw new IOException("the child process " + child.pid() + " did not end in " + timeout.toSeconds()
                        + " s; its output is in " + log);
            }
            return child.exitValue();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for a child process", interrupted);
        }
    }

    /** Kills the process if it is still running. */
    @Override
    public void close() {
        process.destroyForcibly();
    }
}
