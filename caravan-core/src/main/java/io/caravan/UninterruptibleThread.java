package io.caravan;

/**
 * A thread that ignores interrupts, as all store threads do. An interrupt would close the file that the thread uses
 * next. If that is a log file, the store fails permanently. Store threads call foreign code (callbacks, actions,
 * listeners), which may restore an interrupt status that it has caught.
 *
 * <p>An application thread of this class may flush writes itself; see {@link ListStore.WriteGroup#closeAndFlush()}.
 */
public class UninterruptibleThread extends Thread {

    public UninterruptibleThread(Runnable task, String name) {
        super(task, name);
    }

    /** Ignores the interrupt. */
    @Override
    public final void interrupt() {}
}
