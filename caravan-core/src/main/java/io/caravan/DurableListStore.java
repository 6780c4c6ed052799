package io.caravan;

import io.caravan.engine.DedicatedThread;
import io.caravan.engine.Engine;
import io.caravan.engine.Recovery;
import io.caravan.inspect.Repairer;
import io.caravan.inspect.Salvager;
import io.caravan.inspect.Verifier;
import io.caravan.io.FileStorage;
import io.caravan.io.FileStorage.Access;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * A {@link ListStore} on disk. Writes acknowledged at {@link Durability#SYNC} survive {@code kill -9} and a power
 * failure. Only one process at a time can open a directory.
 *
 * <p>This interface has the methods that open and maintain stores; the {@code engine} package implements it. Channel
 * I/O never runs on a caller's thread, because an interrupt of that thread would close the store's files.
 */
public interface DurableListStore extends ListStore {

    /** Opens or creates a store in the directory, with default settings; see {@link #open(StoreConfig)}. */
    static DurableListStore open(Path directory) {
        return open(StoreConfig.builder(directory).build());
    }

    /**
     * Opens the store in the config's directory. Creates the directory and the store if they are missing. Returns once
     * the store has recovered. The store then contains every acknowledged write whose {@link Durability} level covers
     * the type of crash that occurred. By then, all data in the store is durable.
     *
     * @throws StoreLockedException if the store is already open
     * @throws StoreDirectoryException if the directory cannot contain a store, or contains other files
     * @throws StoreVersionException if a newer release wrote the store
     * @throws CorruptStoreException if acknowledged data cannot be read; the store was not changed
     * @throws StoreIoException if the operating system reports an error
     */
    static DurableListStore open(StoreConfig config) {
        return DedicatedThread.call(
                "open " + config.directory(),
                () -> Engine.open(
                        config,
                        FileStorage.open(config.directory(), Access.CREATE, Recovery::requireKnown),
                        System::nanoTime));
    }

    /**
     * Verifies the closed store in the directory: reads every byte and reports every fault. Changes nothing.
     *
     * @throws StoreLockedException if the store is open; then use {@link #verify(VerifyReport.Progress)} of the open
     *     store
     * @throws StoreDirectoryException if the directory contains no store
     */
    static VerifyReport verify(Path directory, VerifyReport.Progress progress) {
        return DedicatedThread.call(
                "verify " + directory, () -> Verifier.verifyClosed(directory, OptionalLong.empty(), progress));
    }

    /**
     * Verifies a store that may be open, in this process or another: reads every byte and reports every fault. Takes no
     * lock and changes nothing.
     *
     * <p>If another process writes during the verification, only the data written so far is read. A finding counts as a
     * fault only if several passes repeat it, so the verification takes several times longer if there are faults.
     *
     * @throws StoreDirectoryException if the directory contains no store
     * @throws StoreIoException if the store changes faster than it can be read
     */
    static VerifyReport verifyWhileOpen(Path directory, VerifyReport.Progress progress) {
        return DedicatedThread.call(
                "verify " + directory, () -> Verifier.verifyWhileOpen(FileStorage.readOnly(directory), progress));
    }

    /**
     * Repairs a closed store that cannot be opened, by cutting off its log before the first damaged frame, and removing
     * damaged checkpoints that are newer than the newest intact one. All writes from that frame on are lost. Every file
     * that is changed or removed is first copied to another directory.
     *
     * @param keepDirectory a new or empty directory for the copies, outside the store's directory
     * @throws CorruptStoreException if cutting the log would not help; nothing was changed
     */
    static RepairReport repair(Path directory, Path keepDirectory, VerifyReport.Progress progress) {
        return DedicatedThread.call("repair " + directory, () -> Repairer.repair(directory, keepDirectory, progress));
    }

    /**
     * Reports which part of the log {@link #repair} would cut off, and which files it would change or remove. Changes
     * nothing.
     *
     * @throws CorruptStoreException if cutting the log would not help
     */
    static RepairReport planRepair(Path directory, VerifyReport.Progress progress) {
        return DedicatedThread.call("plan the repair of " + directory, () -> Repairer.plan(directory, progress));
    }

    /**
     * Copies all intact values of a damaged, closed store to a new store, and reports the losses. Does not write to the
     * damaged store. Every copied value is checked.
     *
     * <p>Values keep their sequences, and lists keep their next sequence. If values are missing from the middle of a
     * list, the earlier values are renumbered to close the gap. For example, if a list has the values 3 to 9 and value
     * 5 is lost, the values 3 and 4 become 4 and 5.
     *
     * @param target a directory that does not exist or is empty, outside the store's directory
     * @throws StoreDirectoryException if the target is not empty, or the directory contains no store files
     * @throws StoreLockedException if the store is open
     */
    static SalvageReport salvage(Path directory, Path target, SalvageReport.Listener listener) {
        return DedicatedThread.call("salvage " + directory, () -> Salvager.salvage(directory, target, listener));
    }

    /**
     * Verifies this open store: reads every frame, checkpoint, and entry, and reports every fault. Writes continue; no
     * checkpoint is published while the files are read.
     */
    VerifyReport verify(VerifyReport.Progress progress);

    /**
     * Copies this store to a directory while the store stays open and in use. The copy is a complete store with exactly
     * the durable state at one moment during this call.
     *
     * <p>The directory's name ends with {@code .partial} until the copy is complete and durable. A failed backup leaves
     * no files. Writes and checkpoints continue. The store keeps the log that follows the backup's checkpoint until the
     * backup ends.
     *
     * @param target a directory that does not exist or is empty, on any disk, outside the store's directory
     * @throws StoreDirectoryException if the target is not empty, or is inside the store's directory
     * @throws StoreLockedException if another backup to the same directory is in progress
     * @throws StoreIoException if the operating system reports an error, or the log has no space to grow
     * @throws StoreClosedException if the store is closed during the backup
     */
    BackupReport backup(Path target, BackupReport.Progress progress);
}
