package io.caravan.testing;

/** Threads that do not keep the process alive. */
final class Daemons {
    private Daemons() {}

    static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }
}
