package io.caravan.engine;

import io.caravan.StoreIoException;
import io.caravan.UninterruptibleThread;
import io.caravan.io.FileStorage;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/** Runs file operations on a separate thread, because an interrupt of the caller's thread would close the files. */
public final class DedicatedThread {

    private DedicatedThread() {}

    /**
     * Runs the work and waits until it ends, even if the caller is interrupted. Throws exceptions unchanged, except
     * that an {@link IOException} becomes a {@link StoreIoException}.
     */
    public static <T> T call(String what, Callable<T> work) {
        CompletableFuture<T> done = new CompletableFuture<>();
        new UninterruptibleThread(completing(done, work), "caravan-open").start();
        return join("cannot " + what, done::join);
    }

    /** Returns a task that completes the future with the result of the work, or with the exception that it throws. */
    static <T> Runnable completing(CompletableFuture<T> done, Callable<T> work) {
        return () -> {
            try {
                done.complete(work.call());
            } catch (Throwable failed) {
                done.completeExceptionally(failed);
            }
        };
    }

    /**
     * Waits for a future. Throws its exception unchanged, except that an {@link IOException} becomes a {@link
     * StoreIoException} whose message begins with this text.
     *
     * @param join waits as {@link CompletableFuture#join} does
     */
    static <T> T join(String beginning, Supplier<T> join) {
        try {
            return join.get();
        } catch (CompletionException failed) {
            Throwable cause = failed.getCause();
            if (cause instanceof IOException problem) {
                throw new StoreIoException(beginning + ": " + FileStorage.problem(problem), problem);
            }
            if (cause instanceof RuntimeException problem) {
                throw problem;
            }
            if (cause instanceof Error problem) {
                throw problem;
            }
            throw new IllegalStateException(beginning, cause);
        }
    }

    /** A wait that an interrupt may end early. */
    @FunctionalInterface
    interface Wait {
        /** Waits, and returns whether the awaited event has occurred. */
        boolean untilOver() throws InterruptedException;
    }

    /** Waits until the event has occurred. Preserves the interrupt status. */
    static void awaitUninterruptibly(Wait wait) {
        boolean interrupted = false;
        boolean over = false;
        while (!over) {
            try {
                over = wait.untilOver();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
