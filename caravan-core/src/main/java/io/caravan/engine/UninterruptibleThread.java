package io.caravan.engine;

/**
 * A thread of the store's, which cannot be interrupted: an interrupt would close the file that the thread touches next,
 * and with the log's file the store would fail for good. The store's threads call foreign code (callbacks, actions,
 * listeners), which may well restore an interrupt status that it has caught.
 */
public class UninterruptibleThread extends Thread {

    public UninterruptibleThread(Runnable task, String name) {
        super(task, name);
    }

    /** Does nothing. */
    @Override
    public final void interrupt() {}
}
