package io.caravan.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * A child JVM with this one's class path, that can be killed for real.
 *
 * <p>Its standard output and error go to a file. Its standard input is a leash: a child that reads the end of it stops
 * cleanly, so {@link #askToStop()} is a polite request. Children that are left when this JVM ends are killed.
 */
public final class ChildJvm implements AutoCloseable {
    /** Exit status of a process that died of SIGKILL: 128 and the signal's number. */
    public static final int KILLED = 128 + 9;

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long DUMP_MILLIS = 500;
    /** A child lives for seconds, so a quick start is worth more than the fastest code. */
    private static final List<String> FLAGS =
            List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto");

    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(() -> RUNNING.forEach(Process::destroyForcibly), "kill-children"));
    }

    private final Process process;
    private final Path log;
    private final long logStart;

    private ChildJvm(Process process, Path log, long logStart) {
        this.process = process;
        this.log = log;
        this.logStart = logStart;
    }

    /** Starts a JVM on a main class; its output is added to {@code log}. */
    public static ChildJvm start(String mainClass, List<String> arguments, Path log) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(mainClass);
        command.addAll(arguments);
        long logStart = Files.exists(log) ? Files.size(log) : 0;
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        RUNNING.add(process);
        process.onExit().thenAccept(RUNNING::remove);
        return new ChildJvm(process, log, logStart);
    }

    /** Where the child's output goes. */
    public Path log() {
        return log;
    }

    /** What the child has put out so far, if no other adds to the same log meanwhile. */
    public String output() throws IOException {
        try (InputStream in = Files.newInputStream(log)) {
            in.skipNBytes(logStart);
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    public boolean alive() {
        return process.isAlive();
    }

    /** Sends SIGKILL, and returns the exit status once the process is gone. */
    public int kill() throws IOException {
        process.destroyForcibly();
        return awaitExit();
    }

    /** Sends SIGTERM. */
    public void terminate() {
        process.destroy();
    }

    /** Sends SIGSTOP: the child stands still until {@link #resume()}, and can still be killed. */
    public void pause() throws IOException {
        signal("STOP");
    }

    /** Sends SIGCONT. */
    public void resume() throws IOException {
        signal("CONT");
    }

    /** Has a child that should have ended by now, if it has not, add to its output what its threads are doing. */
    public void explainIfAlive() {
        if (!alive()) {
            return;
        }
        try {
            signal("QUIT");
            process.waitFor(DUMP_MILLIS, TimeUnit.MILLISECONDS);
        } catch (IOException gone) {
            // It ended this moment, and has nothing to explain.
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** Java itself sends no signals but SIGTERM and SIGKILL. */
    private void signal(String name) throws IOException {
        Process sender = new ProcessBuilder("sh", "-c", "kill -" + name + " " + process.pid())
                .redirectErrorStream(true)
                .start();
        int status = awaitExit(sender);
        if (status != 0) {
            throw new IOException("the child process " + process.pid() + " could not be sent SIG" + name + ": "
                    + new String(sender.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    /** Ends the child's standard input. */
    public void askToStop() throws IOException {
        process.getOutputStream().close();
    }

    /** Waits for the child's end and returns its exit status. One that does not end in a minute is an error. */
    public int awaitExit() throws IOException {
        return awaitExit(process);
    }

    private int awaitExit(Process child) throws IOException {
        try {
            if (!child.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new IOException("the child process " + child.pid() + " did not end in " + PATIENCE.toSeconds()
                        + " s; its output is in " + log);
            }
            return child.exitValue();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for a child process", interrupted);
        }
    }

    /** Leaves no process behind. */
    @Override
    public void close() {
        process.destroyForcibly();
    }
}
