package io.caravan;

/**
 * A thread that cannot be interrupted, as those of a store are: an interrupt would close the file that the thread touches
 * next, and with the log's file the store would fail for good. Such threads call foreign code (callbacks, actions,
 * listeners), which may well restore an interrupt status that it has caught.
 *
 * <p>A thread of yours that is one may do the store's work itself, see {@link ListStore.Group#closeAndFlush()}.
 */
public class UninterruptibleThread extends Thread {

    public UninterruptibleThread(Runnable task, String name) {
        super(task, name);
    }

    /** Does nothing. */
    @Override
    public final void interrupt() {}
}
