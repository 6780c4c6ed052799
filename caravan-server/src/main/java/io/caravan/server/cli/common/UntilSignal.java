package io.caravan.server.cli.common;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import picocli.CommandLine;

/**
 * Runs work that stops cleanly on Ctrl-C or SIGTERM: the output is completed, and the process exits with the exit code
 * of the work.
 */
public final class UntilSignal {
    private static final int LAST_OUTPUT_SECONDS = 2;

    private UntilSignal() {}

    /**
     * Runs the work, and stops it if the process receives a signal.
     *
     * @param name the name of the thread that ends the process
     * @param stop ends the work soon; called on that thread
     * @param exitCode the exit code after a signal, if the work has ended without an exception
     */
    public static void run(String name, Runnable stop, Output.Writing work, IntSupplier exitCode) throws IOException {
        CountDownLatch done = new CountDownLatch(1);
        AtomicInteger code = new AtomicInteger(CommandLine.ExitCode.SOFTWARE);
        Thread hook = new Thread(() -> endProcess(stop, done, code), name);
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            work.write();
            code.set(exitCode.getAsInt());
        } finally {
            done.countDown();
            removeHook(hook);
        }
    }

    /**
     * Waits at most this long for the latch that stops the work. Returns whether the latch is open. An interrupt opens
     * the latch.
     */
    public static boolean stopped(CountDownLatch stop, long waitMillis) {
        try {
            return stop.await(waitMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            stop.countDown();
            return true;
        }
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException shuttingDown) {
            // The signal arrived at this moment; the hook ends the process.
        }
    }

    private static void endProcess(Runnable stop, CountDownLatch done, AtomicInteger code) {
        stop.run();
        try {
            done.await(LAST_OUTPUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException unexpected) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(code.get());
    }
}
