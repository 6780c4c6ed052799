package io.caravan.engine;

import java.io.IOException;

/** Work with a store's files, done on the checkpointer's thread. */
@FunctionalInterface
public interface FileTask {
    void run() throws IOException;
}
