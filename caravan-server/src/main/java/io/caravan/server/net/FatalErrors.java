package io.caravan.server.net;

import io.netty.util.internal.OutOfDirectMemoryError;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles errors after which a server cannot continue: the JVM heap is exhausted, the JVM is broken, or an event loop
 * has ended. If the process continued, it would keep its ports open without sending replies, so it must exit and be
 * restarted.
 */
public final class FatalErrors {
    /** The exit status, which is the same as that of {@code -XX:+ExitOnOutOfMemoryError}. */
    public static final int EXIT_STATUS = 3;

    private static final Logger LOG = LoggerFactory.getLogger(FatalErrors.class);

    private FatalErrors() {}

    /**
     * Thrown if an event loop ends while the network is open, because the loop's connections would get no more replies.
     */
    static final class EventLoopEndedException extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        EventLoopEndedException(String thread) {
            super("the event loop " + thread + " has ended while the server runs");
        }
    }

    /**
     * Configures this process to halt with {@link #EXIT_STATUS} when a fatal error ends a thread or is passed to
     * {@link #report}.
     */
    public static void haltProcess() {
        Thread.setDefaultUncaughtExceptionHandler(FatalErrors::uncaught);
    }

    /**
     * Whether the process must exit after this problem. A stack overflow or a failed allocation of Netty's direct
     * memory is not fatal: it only ends the connection, which frees the memory.
     */
    static boolean fatal(@Nullable Throwable problem) {
        return problem instanceof EventLoopEndedException
                || problem instanceof VirtualMachineError
                        && !(problem instanceof StackOverflowError)
                        && !(problem instanceof OutOfDirectMemoryError);
    }

    /** Passes a caught problem to the uncaught exception handler of the current thread, if the problem is fatal. */
    public static void report(Throwable problem) {
        if (fatal(problem)) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, problem);
        }
    }

    private static void uncaught(Thread thread, Throwable problem) {
        boolean fatal = fatal(problem);
        try {
            if (fatal) {
                LOG.error(
                        "the process ends with status {}, because it cannot continue: {} failed",
                        EXIT_STATUS,
                        thread.getName(),
                        problem);
            } else {
                LOG.error("the thread {} has ended", thread.getName(), problem);
            }
        } finally {
            // The process halts even if logging, which needs memory, has failed.
            if (fatal) {
                Runtime.getRuntime().halt(EXIT_STATUS);
            }
        }
    }
}
