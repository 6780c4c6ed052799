package io.caravan.fuzz;

import io.caravan.format.CheckpointLayout;
import java.nio.ByteBuffer;
import java.util.function.IntConsumer;

/** Finds the sections of a checkpoint file that may be damaged. */
public final class Sections {

    private Sections() {}

    /** Calls the action with the offset of each section, up to the first incomplete one. */
    public static void forEach(ByteBuffer file, IntConsumer action) {
        int at = CheckpointLayout.HEADER_BYTES;
        int bytes = bytes(file, at);
        while (bytes > 0) {
            action.accept(at);
            at += bytes;
            bytes = bytes(file, at);
        }
    }

    /** Returns the size of the section at this offset, or -1 if it is incomplete. */
    public static int bytes(ByteBuffer file, int at) {
        long room = (long) file.limit() - at - CheckpointLayout.SECTION_HEADER_BYTES;
        int payload = room < 0 ? -1 : file.getInt(at + CheckpointLayout.SECTION_PAYLOAD_BYTES);
        return payload < 0 || payload > room ? -1 : CheckpointLayout.SECTION_HEADER_BYTES + payload;
    }
}
