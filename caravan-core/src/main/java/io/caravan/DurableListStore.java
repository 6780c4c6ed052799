package io.caravan;

import io.caravan.engine.Engine;
import io.caravan.engine.OwnThread;
import io.caravan.inspect.Repairer;
import io.caravan.inspect.Salvager;
import io.caravan.inspect.Verifier;
import io.caravan.io.FileStorage;
import io.caravan.io.ReadOnlyStorage;
import java.nio.file.Path;

/**
 * A {@link ListStore} that survives: what it has acknowledged at {@link Durability#SYNC} is there after {@code kill -9}
 * and after a power loss. One process opens a directory at a time.
 *
 * <p>It is opened here, and what it does is in the package of its engine. No caller's thread ever does channel I/O,
 * because an interrupt would close the store's files.
 */
public interface DurableListStore extends ListStore {

    /** Opens or creates the store in the directory, with default settings; see {@link #open(StoreConfig)}. */
    static DurableListStore open(Path directory) {
        return open(StoreConfig.builder(directory).build());
    }

    /**
     * Opens the store in the config's directory, creating directory and store when they are missing. Returns when the
     * store has recovered: everything acknowledged before is there, and is durable.
     *
     * @throws StoreLockedException when it is open elsewhere
     * @throws StoreDirectoryException when the directory cannot hold it, or holds something else
     * @throws StoreVersionException when it was written by a newer release
     * @throws CorruptStoreException when what was acknowledged cannot be read back; nothing was changed
     * @throws StoreIoException when the operating system refuses
     */
    static DurableListStore open(StoreConfig config) {
        return OwnThread.call(
                "open " + config.directory(),
                () -> Engine.open(config, FileStorage.openOrCreate(config.directory()), System::nanoTime));
    }

    /**
     * Reads every byte of the closed store in the directory and reports every fault; changes nothing.
     *
     * @throws StoreLockedException when it is open; use {@link #verify(VerifyReport.Progress)} on the open store
     * @throws StoreDirectoryException when there is no store
     */
    static VerifyReport verify(Path directory, VerifyReport.Progress progress) {
        return OwnThread.call("verify " + directory, () -> Verifier.verifyClosed(directory, progress));
    }

    /**
     * Reads every byte of a store that may be open, here or in another process, and reports every fault; takes no lock,
     * and changes nothing. What another process writes meanwhile is read as far as it is there. Something counts as a
     * fault only if it is found again and again, so a store with faults takes several times as long.
     *
     * @throws StoreDirectoryException when there is no store
     * @throws StoreIoException when the store changes faster than it can be read
     */
    static VerifyReport verifyWhileOpen(Path directory, VerifyReport.Progress progress) {
        return OwnThread.call(
                "verify " + directory, () -> Verifier.verifyWhileOpen(ReadOnlyStorage.of(directory), progress));
    }

    /**
     * Cuts the log of the closed store off before its first damaged frame, for a store that refuses to open. What
     * followed is lost to the store, but every file that is changed or removed is copied first.
     *
     * @param keepDirectory a new or empty folder for the copies, outside the store's
     * @throws CorruptStoreException when cutting the log would not help; nothing was changed
     */
    static RepairReport repair(Path directory, Path keepDirectory, VerifyReport.Progress progress) {
        return OwnThread.call("repair " + directory, () -> Repairer.repair(directory, keepDirectory, progress));
    }

    /**
     * Says what {@link #repair} would cut off, and which files it would change or remove; changes nothing. Whether the
     * store opens then is not known before.
     *
     * @throws CorruptStoreException when cutting the log would not help
     */
    static RepairReport planRepair(Path directory, VerifyReport.Progress progress) {
        return OwnThread.call("look at " + directory, () -> Repairer.plan(directory, progress));
    }

    /**
     * Takes everything that still checks out of a damaged, closed store into a new one, and tells what does not come.
     * Writes nothing to the damaged one. Every value in the new store was checked. Values keep their sequences, and
     * lists their next one; where some in the midst of a list are missing, those before them move up.
     *
     * @param target a folder that does not exist, or is empty, outside the store's
     * @throws StoreDirectoryException when the target has anything in it, or the directory has no file of a store
     * @throws StoreLockedException when the store is open
     */
    static SalvageReport salvage(Path directory, Path target, SalvageReport.Listener listener) {
        return OwnThread.call("salvage " + directory, () -> Salvager.salvage(directory, target, listener));
    }

    /**
     * Reads every frame, checkpoint and entry of this open store and reports every fault. Writes go on meanwhile;
     * checkpoints wait.
     */
    VerifyReport verify(VerifyReport.Progress progress);

    /**
     * Copies this open store to a folder while it is used. The copy is a store that opens: what was durable at one moment
     * after this was called, and nothing else. Until it is whole and durable the folder's name ends with {@code
     * .partial}; a backup that fails leaves nothing. Writes and checkpoints go on, and the log behind the backup's
     * checkpoint is kept meanwhile.
     *
     * @param target a folder that does not exist, or is empty; on any disk
     * @throws StoreDirectoryException when it exists and is not empty
     * @throws StoreLockedException when another backup to the same folder is under way
     * @throws StoreIoException when the operating system refuses, or the log has no space to grow
     * @throws StoreClosedException when the store is closed meanwhile
     */
    BackupReport backup(Path target, BackupReport.Progress progress);
}
