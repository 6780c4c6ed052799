package io.caravan.cluster;

/** A thread that does not keep the process alive. */
final class DaemonThread extends Thread {
    DaemonThread(Runnable task, String name) {
        super(task, name);
        setDaemon(true);
    }
}
