package io.caravan.engine;

import io.caravan.SnapshotInstaller;
import io.caravan.format.Blocks;
import io.caravan.format.FileNames;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Creates the files of a copied store from the chunks that {@link Backup} sends. Treats the chunks as untrusted input.
 *
 * <p>A chunk is little-endian. It starts with its kind, in one byte. The rest depends on the kind:
 *
 * <ul>
 *   <li>New file: the size to reserve for it, in eight bytes, and its name in UTF-8.
 *   <li>Content: the position in the file, in eight bytes, and the bytes.
 *   <li>End of file: eight bytes of zeros.
 * </ul>
 */
public final class ChunkFiles implements SnapshotInstaller {
    static final byte NEW_FILE = 1;
    static final byte CONTENT = 2;
    static final byte END_OF_FILE = 3;
    static final int HEAD_BYTES = 1 + Long.BYTES;

    private final Storage target;
    private final Set<String> names = new HashSet<>();
    private @Nullable StoreFile file;

    /** Prepares to create the files in an empty directory. */
    public ChunkFiles(Storage target) {
        this.target = target;
    }

    @Override
    public void receive(ByteBuffer chunk) throws IOException {
        ByteBuffer rest = chunk.slice().order(ByteOrder.LITTLE_ENDIAN);
        if (rest.remaining() < HEAD_BYTES) {
            throw new IOException("a chunk of " + rest.remaining() + " bytes is too short");
        }
        byte kind = rest.get();
        long number = rest.getLong();
        StoreFile now = file;
        if (number < 0 || kind == NEW_FILE && number > Blocks.MAX_SEGMENT_BYTES) {
            throw new IOException("a chunk has the position or size " + number);
        } else if (kind == NEW_FILE && now == null) {
            String name = StandardCharsets.UTF_8.decode(rest).toString();
            if (!FileNames.isOurs(name) || !names.add(name)) {
                throw new IOException("a file of this name cannot be received, or was already: " + name);
            }
            file = target.create(name, number);
        } else if (kind == CONTENT && now != null) {
            now.write(rest, number);
        } else if (kind == END_OF_FILE && now != null) {
            try (now) {
                file = null;
                now.force();
            }
        } else {
            throw new IOException("a chunk of kind " + kind + (now == null ? " outside of a file" : " within a file"));
        }
    }

    @Override
    public void finish() throws IOException {
        if (file != null) {
            throw new IOException("the chunks end within a file");
        }
        target.forceDirectory();
    }

    @Override
    public void close() throws IOException {
        try (target) {
            if (file != null) {
                file.close();
            }
        }
    }
}
