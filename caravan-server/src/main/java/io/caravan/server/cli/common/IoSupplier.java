package io.caravan.server.cli.common;

import java.io.IOException;

/** Supplies a value, or throws an {@link IOException}. */
public interface IoSupplier<T> {
    T get() throws IOException;
}
