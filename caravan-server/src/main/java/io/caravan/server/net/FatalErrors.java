package io.caravan.server.net;

import io.netty.util.internal.OutOfDirectMemoryError;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Errors that a server cannot survive: the heap is exhausted, the JVM is broken, or an event loop has ended. A process
 * that went on would keep its ports and answer nothing, so it has to end and be restarted.
 */
public final class FatalErrors {
    /** The exit status, which is also that of {@code -XX:+ExitOnOutOfMemoryError}. */
    public static final int EXIT_STATUS = 3;

    private static final Logger LOG = LoggerFactory.getLogger(FatalErrors.class);

    private FatalErrors() {}

    /** An event loop has ended although the network is open: its connections get no answers any more. */
    static final class EventLoopEndedException extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        EventLoopEndedException(String thread) {
            super("the event loop " + thread + " has ended while the server runs");
        }
    }

    /** Makes this process halt with {@link #EXIT_STATUS} when a fatal error ends a thread or is {@link #report reported}. */
    public static void haltProcess() {
        Thread.setDefaultUncaughtExceptionHandler(FatalErrors::uncaught);
    }

    /**
     * Whether the process cannot go on after this problem. A thread that runs out of stack can, and so can one that
     * finds no memory outside the heap: its connection ends, and that memory is free again.
     */
    static boolean fatal(@Nullable Throwable problem) {
        return problem instanceof EventLoopEndedException
                || problem instanceof VirtualMachineError
                        && !(problem instanceof StackOverflowError)
                        && !(problem instanceof OutOfDirectMemoryError);
    }

    /** Hands a problem that was caught, if it is fatal, to the current thread's handler of uncaught exceptions. */
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
                        "the process ends with status {}, because it cannot go on: {} failed",
                        EXIT_STATUS,
                        thread.getName(),
                        problem);
            } else {
                LOG.error("the thread {} has ended", thread.getName(), problem);
            }
        } finally {
            // Whatever became of the log line, which needs memory.
            if (fatal) {
                Runtime.getRuntime().halt(EXIT_STATUS);
            }
        }
    }
}
