package io.caravan.engine;

import io.caravan.StoreIoException;
import io.caravan.UninterruptibleThread;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/** Runs file operations on a separate thread, because an interrupt of the caller's thread would close the files. */
public final class DedicatedThread {

    private DedicatedThread() {}

    /**
     * Runs the work and waits until it ends, even if the caller is interrupted. Throws exceptions unchanged, except
     * that an {@link IOException} becomes a {@link StoreIoException}.
     */
    public static <T> T call(String what, Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new UninterruptibleThread(task, "caravan-open");
        thread.start();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException failed) {
                    throw translate("cannot " + what, failed.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Returns or throws the exception unchanged, except that an {@link IOException} becomes a {@link StoreIoException}
     * whose message begins with this text.
     */
    static RuntimeException translate(String beginning, @Nullable Throwable cause) {
        if (cause instanceof IOException problem) {
            return new StoreIoException(beginning + ": " + problem, problem);
        }
        if (cause instanceof RuntimeException problem) {
            return problem;
        }
        if (cause instanceof Error problem) {
            throw problem;
        }
        return new IllegalStateException(beginning, cause);
    }
}
