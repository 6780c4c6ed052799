package io.caravan.server.cli.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.doctor.Finding.Grade;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the findings of {@code caravan doctor} about suitable and unsuitable machines, disks, and files. */
class DoctorTest {
    @TempDir
    private Path directory;

    private void put(String file, String text) throws IOException {
        Path path = directory.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private Map<String, Grade> machine() {
        return new MachineChecks(directory)
                .run(10_000).stream().collect(Collectors.toMap(Finding::subject, Finding::grade));
    }

    @Test
    void adequateMachineIsGradedOk() throws IOException {
        put(
                "proc/self/limits",
                "Limit  Soft Limit  Hard Limit  Units\nMax open files            11024   524288   files\n");
        put("run/systemd/timesync/synchronized", "");
        put("proc/sys/vm/max_map_count", "65530\n");
        put("proc/meminfo", "MemTotal:       1000000000 kB\n");
        put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        assertThat(machine())
                .hasSize(6)
                .allSatisfy((subject, grade) -> assertThat(grade).as(subject).isEqualTo(Grade.OK));
    }

    @Test
    void eachShortageYieldsWarningWithRemedy() throws IOException {
        put("proc/self/limits", "Max open files            11023   524288   files\n");
        put("proc/sys/vm/max_map_count", "65529\n");
        put("proc/meminfo", "MemTotal:       1000 kB\n");
        put("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
        List<Finding> findings = new MachineChecks(directory).run(10_000);
        assertThat(findings.subList(0, 4)).allSatisfy(finding -> {
            assertThat(finding.grade()).isEqualTo(Grade.WARNING);
            assertThat(finding.change()).isNotEmpty();
        });
        assertThat(findings.get(0).change()).contains("LimitNOFILE=11024");
    }

    @ParameterizedTest
    @CsvSource({"512, 128", "1024, 512", "2000, 1000", "2048, 1024", "65536, 64512"})
    void reservesOpenFilesForStore(long openFiles, long connections) {
        assertThat(MachineChecks.connectionsWithin(openFiles)).isEqualTo(connections);
    }

    @Test
    void missingSystemInfoIsGradedUnknown() {
        assertThat(machine()).containsEntry("open files", Grade.UNKNOWN).containsEntry("Java", Grade.OK);
    }

    @ParameterizedTest
    @CsvSource({
        "ext4, OK",
        "xfs, OK",
        "btrfs, WARNING",
        "zfs, WARNING",
        "tmpfs, BAD",
        "nfs4, WARNING",
        "fuse.sshfs, WARNING",
        "overlay, WARNING"
    })
    void gradesFileSystemTypes(String type, Grade expected) {
        assertThat(DiskChecks.kind(type, "it").grade()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"200, 1000, OK", "140, 1000, WARNING", "1, 2, OK", "0, 1000, BAD"})
    void gradesFreeSpaceByBytesAndPercentage(long freeGib, long totalGib, Grade expected) {
        assertThat(DiskChecks.space(freeGib << 30, totalGib << 30).grade()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"14999, BAD", "15000, OK", "20000000, OK", "20000001, WARNING"})
    void implausiblyFastFsyncIsGradedWorseThanSlow(long nanos, Grade expected) {
        assertThat(DiskChecks.forces(nanos).grade()).isEqualTo(expected);
    }

    @Test
    void diskChecksLeaveNoFiles() throws IOException {
        List<Finding> findings = new DiskChecks(directory, directory.resolve("not/there/yet")).run(true);
        assertThat(findings)
                .extracting(Finding::subject)
                .containsExactly("file system", "space", "fsyncs", "mount options", "write cache");
        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void reportsReadableAndMissingSecretFiles() throws IOException {
        Path secret = Files.writeString(directory.resolve("secret"), "x");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-r--r--"));
        Finding open = DiskChecks.access(directory, List.of(secret)).get(1);
        assertThat(open.grade()).isEqualTo(Grade.WARNING);
        assertThat(open.change()).isEqualTo("chmod 600 " + secret);
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        assertThat(DiskChecks.access(directory, List.of(secret)).get(1).grade()).isEqualTo(Grade.OK);
        Finding absent = DiskChecks.access(directory, List.of(directory.resolve("absent")))
                .get(1);
        assertThat(absent.grade()).isEqualTo(Grade.BAD);
    }

    @Test
    void showsOnlyHarmlessJvmOptions() {
        assertThat(JvmOptions.shown(List.of(
                        "-Xmx2g",
                        "-XX:+UseZGC",
                        "-XX:MaxRAMPercentage=50.0",
                        "-XX:HeapDumpPath=/var/dump",
                        "-XX:OnOutOfMemoryError=mail -p secret",
                        "-Djava.io.tmpdir=/tmp",
                        "-Djavax.net.ssl.keyStorePassword=secret",
                        "-Dsecret",
                        "-javaagent:agent.jar=key=secret",
                        "-Xsecret",
                        "secret")))
                .containsExactly(
                        "-Xmx2g",
                        "-XX:+UseZGC",
                        "-XX:MaxRAMPercentage=50.0",
                        "-XX:HeapDumpPath=/var/dump",
                        "-XX:OnOutOfMemoryError(hidden)",
                        "-Djava.io.tmpdir=/tmp",
                        "-D(hidden)",
                        "(hidden)",
                        "-javaagent(hidden)",
                        "(hidden)",
                        "(hidden)");
        assertThat(JvmOptions.of(List.of("java", "-Xmx2g", "-cp", "-Xsecret", "-Xss1m", "Main", "-Xmx3g")))
                .containsExactly("-Xmx2g", "-Xss1m");
    }

    /** The first read of a kernel file must fetch the entire file, because later reads return nothing. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void readsCompleteKernelFile() throws IOException {
        Path maps = Path.of("/proc/sys/vm/max_map_count");
        Process cat = new ProcessBuilder("cat", maps.toString()).start();
        assertThat(MachineChecks.systemFile(maps))
                .isEqualTo(new String(cat.getInputStream().readAllBytes(), UTF_8));
    }

    /**
     * Returns the findings about a store directory that is a mount point with these options. The disk is device 8:16,
     * and 8:17 is its partition.
     */
    private List<Finding> mounted(String options, String ofTheFileSystem) throws IOException {
        Path store = Files.createDirectories(directory.resolve("a store")).toRealPath();
        put(
                "proc/self/mountinfo",
                "not a mount\n"
                        + "1 0 8:1 / / ro,relatime shared:1 - ext4 /dev/sda1 ro,volatile\n"
                        + "2 1 8:17 / " + store.toString().replace(" ", "\\040") + " " + options
                        + " shared:1 - ext4 /dev/sdb1 " + ofTheFileSystem + "\n"
                        + "3 1 8:1 / " + directory.toRealPath() + "/a ro - ext4 /dev/sda1 ro\n");
        Path partition = Files.createDirectories(directory.resolve("sys/devices/sdb/sdb1"));
        Files.createDirectories(directory.resolve("sys/dev/block"));
        Path link = directory.resolve("sys/dev/block/8:17");
        Files.deleteIfExists(link);
        Files.createSymbolicLink(link, partition);
        return new DiskChecks(directory, store.resolve("not/there/yet")).mounted();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rw,noatime | rw,data=ordered     | OK",
                "rw,noatime | rw,nobarrier        | BAD",
                "rw,noatime | rw,barrier=0        | BAD",
                "rw         | rw,volatile         | BAD",
                "ro         | rw                  | BAD",
                "rw         | rw,sync             | WARNING",
                "rw         | rw,soft             | WARNING",
            })
    void gradesMountOptions(String options, String ofTheFileSystem, Grade expected) throws IOException {
        Finding finding = mounted(options, ofTheFileSystem).get(0);
        assertThat(finding.grade()).as(finding.text()).isEqualTo(expected);
        assertThat(finding.change().isEmpty()).isEqualTo(expected == Grade.OK);
    }

    @Test
    void hidesMountOptionsWithPossibleSecrets() throws IOException {
        assertThat(mounted("rw,noatime", "rw,username=ada,password=secret")
                        .get(0)
                        .found())
                .isEqualTo("noatime,rw and 2 others");
    }

    @ParameterizedTest
    @CsvSource({"write back, OK", "write through, UNKNOWN", "what, UNKNOWN"})
    void checksWriteCacheOfPartitionsDisk(String cache, Grade expected) throws IOException {
        put("sys/devices/sdb/queue/write_cache", cache + "\n");
        Finding finding = mounted("rw", "rw").get(1);
        assertThat(finding.subject()).isEqualTo("write cache");
        assertThat(finding.grade()).isEqualTo(expected);
        assertThat(finding.change())
                .isEqualTo(
                        cache.equals("write through")
                                ? "if the disk has a cache: echo 'write back' into queue/write_cache below /sys/block"
                                : "");
    }

    @Test
    void missingMountTableIsGradedUnknown() {
        assertThat(new DiskChecks(directory, directory).mounted())
                .allSatisfy(finding -> assertThat(finding.grade()).isEqualTo(Grade.UNKNOWN));
    }
}
