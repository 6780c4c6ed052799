package io.caravan.server.document;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocalThread;

/**
 * A thread that reads documents for clients. A write on this thread does not wait for space in the store, so that reads
 * are served while the store is full or its log grows.
 */
public final class ReaderThread extends FastThreadLocalThread {
    private ReaderThread(Runnable task, String name) {
        super(task, name);
    }

    public static final class Factory extends DefaultThreadFactory {
        public Factory() {
            super("caravan-reader", true);
        }

        @Override
        protected Thread newThread(Runnable task, String name) {
            return new ReaderThread(task, name);
        }
    }
}
