package io.caravan.server.archive.object;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.Function;

/** An object's bytes, whose errors are told as {@link ObjectStoreException}s. */
final class ObjectInput extends FilterInputStream {
    private final Function<IOException, ObjectStoreException> problem;

    ObjectInput(InputStream in, Function<IOException, ObjectStoreException> problem) {
        super(in);
        this.problem = problem;
    }

    @Override
    public int read() {
        try {
            return in.read();
        } catch (IOException failed) {
            throw problem.apply(failed);
        }
    }

    @Override
    public int read(byte[] bytes, int offset, int length) {
        try {
            return in.read(bytes, offset, length);
        } catch (IOException failed) {
            throw problem.apply(failed);
        }
    }

    @Override
    public void close() {
        try {
            in.close();
        } catch (IOException failed) {
            throw problem.apply(failed);
        }
    }
}
