package io.caravan.testing.simulator;

import java.util.List;

/**
 * Lists small edits to the source code, each of which breaks one guarantee of the store. The product therefore needs no
 * switches for sabotage. The text of each edit must occur exactly once in the source, so a sabotage that no longer fits
 * fails.
 */
enum Sabotage {
    ACKNOWLEDGE_BEFORE_THE_FORCE(edit(
            "engine/Flusher",
            "            if (force) {\n",
            "            commit.complete(null);\n            if (force) {\n")),
    SKIP_THE_FORCE(edit("engine/Flusher", "                writer.force();\n", "")),
    SKIP_THE_DIRECTORY_FORCE_AFTER_A_RENAME(edit(
            "wal/LogSegments",
            "storage.rename(temporary, FileNames.LOG.of(segment));\n        storage.forceDirectory();",
            "storage.rename(temporary, FileNames.LOG.of(segment));")),
    TAKE_THE_LEVEL_OF_THE_LAST_WRITE(
            edit("engine/Commit", "        level = level.orStronger(atLeast);\n", "        level = atLeast;\n")),
    FORCE_THE_LAST_SEGMENT_ALONE(edit(
            "wal/LogWriter", "for (long segment = firstUnforcedSegment;", "for (long segment = lastWrittenSegment;")),
    LET_FRAMES_THAT_WERE_CUT_OFF_FOLLOW_NEW_ONES(
            edit("format/FrameLayout", "                && term(segment, at) >= previous.term()\n", ""),
            edit(
                    "format/FrameLayout",
                    "(isOld(segment, at) || previous.term() == 0 || segment.getInt(at + PREVIOUS_CRC) == previous.crc())",
                    "true")),
    REUSE_A_REGION_BEFORE_THE_FREEING_FRAME_IS_DURABLE(
            edit("engine/HeapSpace", "&& state.forced.position() > reclaims.first(2)", ""), reuseFreedPlace()),
    REUSE_A_REGION_THAT_THE_NEWEST_CHECKPOINT_NAMES(reuseFreedPlace()),
    TENURE_AN_ENTRY_WHOSE_FRAME_IS_NOT_FORCED(
            edit("engine/LogEvacuation", " && Region.entryLsn(region, untilLsn) < untilLsn;", ";")),
    NAME_HEAP_BYTES_THAT_ARE_NOT_FORCED(edit(
            "engine/LogEvacuation",
            "            damaged = copy(untilLsn);\n            force();\n",
            "            damaged = copy(untilLsn);\n")),
    SWAP_REGIONS_THAT_MAY_HAVE_BEEN_FREED(edit(
            "engine/LogEvacuation",
            "            move(untilLsn);\n            unpinFinished();\n",
            "            unpinFinished();\n            move(untilLsn);\n")),
    RECYCLE_A_LOG_SEGMENT_THAT_THE_INDEX_STILL_NAMES(edit(
            "engine/LogEvacuation",
            "return from < index.next(list) &&",
            "return from < index.next(list) && list % 2 == 0 &&")),
    FORGET_LISTS_THAT_STILL_HAVE_ENTRIES_IN_THE_LOG(
            edit("engine/LogEvacuation", "                state.index.putYoung(young.pin.list());\n", "")),
    RECYCLE_A_LOG_SEGMENT_THAT_THE_OLDER_CHECKPOINT_NEEDS(edit(
            "engine/Checkpointer",
            "state.geometry.segmentOf(older.startLsn())",
            "state.geometry.segmentOf(header.startLsn())")),
    WRITE_TO_A_FROZEN_PAGE(edit("collections/LongPages", "frozen[number].clone()", "frozen[number]")),
    CHANGE_A_FROZEN_BUCKET(
            edit("collections/SlotTable", "if (child != null && child == childOf(frozen, at)) {", "if (false) {")),
    ACCEPT_A_STALE_FRAME_OF_A_RECYCLED_SEGMENT(
            edit("format/FrameLayout", " || segment.getLong(at + LSN) != lsn", ""),
            edit("wal/LogFrames", "\n                && window.getLong(at(lsn) + FrameLayout.LSN) == lsn;", ";"),
            edit(
                    "wal/LogFrames",
                    "return validAt(lsn) && FrameLayout.follows(window, at(lsn), previous);",
                    "return validAt(lsn);")),
    REWRITE_AN_ACKNOWLEDGED_BLOCK(edit("wal/LogWriter", "        int count = sealed.remaining();\n", """
                    int count = sealed.remaining();
                    if (last.lsn() >= 0 && geometry.segmentOf(last.lsn()) == segment) {
                        ByteBuffer block = ByteBuffer.allocate(4096);
                        segments.file(segment).read(block, geometry.offsetOf(last.lsn()));
                        segments.file(segment).write(block.flip(), geometry.offsetOf(last.lsn()));
                    }
            """)),
    TRUNCATE_AT_THE_FIRST_BAD_FRAME_THOUGH_VALID_ONES_FOLLOW(
            edit("wal/LogScanner", "            reject(found, behind.first());\n", "")),
    RETRY_A_FAILED_FORCE_AND_ACKNOWLEDGE(
            edit("wal/LogWriter", "            forceFailed(failed);\n", "            force();\n            return;\n")),
    LET_A_READER_SEE_WHAT_IS_NOT_FORCED(edit(
            "engine/ReadPath",
            "            committed.awaitPassed(pinned.lastLsn());\n            return described(pinned);\n",
            "            return described(pinned);\n")),
    TRUST_A_FRAME_WHOSE_FORCE_FAILED(
            edit("wal/LogSegments", "        writeAgain(frames, Math.max(start, opened.get()), end);\n", "")),
    WRITE_ACKNOWLEDGED_FRAMES_AGAIN(edit("wal/LogSegments", "Math.max(start, opened.get())", "start")),
    NOTE_A_FORCE_BEFORE_IT_IS_MADE(edit(
            "wal/LogWriter",
            "            for (long segment = firstUnforcedSegment;",
            "            segments.forcedUpTo(position);\n            for (long segment = firstUnforcedSegment;")),
    TRUST_THE_LAST_SEGMENTS_HEADER_AFTER_A_KILL(
            edit("engine/Recovery", "            log.rewriteHeader(log.last());\n", "")),
    FLUSH_WHILE_ANOTHER_FLUSHES(edit("engine/CommitQueue", "        spare = null;\n", "        spare = sealed;\n")),
    SHOW_WHAT_WAS_REPLAYED_BEFORE_IT_IS_DURABLE(edit("wal/LogSegments", "            file(segment).force();\n", "")),
    KEEP_WHAT_WAS_FREED(edit(
            "engine/HeapSpace", "        state.heap.free(Region.address(region), Region.entryBytes(region));\n", "")),
    FREE_WHAT_A_READER_HAS_PINNED(
            edit("index/ListIndex", "Math.min(Math.min(to, first(list)), pinned);", "Math.min(to, first(list));")),
    UNMAP_THE_HEAP_UNDER_ITS_READERS(edit("heap/HeapFile", "        references.incrementAndGet();\n", "")),
    LOSE_A_DELETION_THAT_IS_RECORDED_ON_A_FULL_DISK(
            edit("engine/CommitQueue", "    private int reserveBytes;\n", """
                        private int reserveBytes;

                        boolean losesDeletion() {
                            return needsReserve(active.frame().baseLsn()) && provisioner.isLogOutOfSpace();
                        }
            """),
            edit("engine/WritePath", "                putDelete(frame, operation.id());\n", """
                            int list = state.index.find(operation.id());
                            if (list != ListIndex.NONE && queue.losesDeletion()) {
                                applyDelete(list, frame.lsn(frame.bytes()));
                            } else {
                                putDelete(frame, operation.id());
                            }
            """)),
    NEVER_NOTICE_THAT_THERE_IS_SPACE_AGAIN(edit("engine/Provisioner", "            provide();\n", """
                        if (before != null) {
                            throw before;
                        }
                        provide();
            """));

    private final List<SourceEdit> edits;

    Sabotage(SourceEdit... edits) {
        this.edits = List.of(edits);
    }

    private static SourceEdit edit(String file, String from, String to) {
        return new SourceEdit(file, from, to);
    }

    private static SourceEdit reuseFreedPlace() {
        String reuse = "region -> {\n if (!Region.isInLog(region)) {\n reuse(region);\n }\n }";
        return edit("engine/HeapSpace", "freed::add", reuse);
    }

    List<SourceEdit> edits() {
        return edits;
    }

    /** Returns a description of the sabotage in words. */
    String description() {
        return name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
    }
}
