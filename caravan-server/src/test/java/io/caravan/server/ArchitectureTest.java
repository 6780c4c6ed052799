package io.caravan.server;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the dependencies between the server's packages are acyclic and allowed. */
@Tag("slow")
class ArchitectureTest {
    private static final String ROOT = "io.caravan.server";

    private static final JavaClasses MAIN_CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(ROOT);

    @Test
    void packagesHaveNoCycles() {
        slices().matching(ROOT + ".(**)").should().beFreeOfCycles().check(MAIN_CLASSES);
    }

    @Test
    void everyClassIsInKnownPackage() {
        classes()
                .should()
                .resideInAnyPackage(
                        ROOT + ".app..",
                        ROOT + ".archive..",
                        ROOT + ".backup..",
                        ROOT + ".cli..",
                        ROOT + ".cluster..",
                        ROOT + ".config..",
                        ROOT + ".document..",
                        ROOT + ".metrics..",
                        ROOT + ".net..",
                        ROOT + ".protocol..",
                        ROOT + ".security..")
                .check(MAIN_CLASSES);
    }

    @Test
    void protocolsDoNotDependOnEachOther() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".protocol.resp..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ROOT + ".protocol.http..")
                .check(MAIN_CLASSES);
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".protocol.http..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ROOT + ".protocol.resp..")
                .check(MAIN_CLASSES);
    }

    @Test
    void documentsDoNotDependOnProtocolsOrArchive() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".document..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        ROOT + ".protocol..", ROOT + ".archive..", ROOT + ".backup..", ROOT + ".net..", ROOT + ".app..")
                .check(MAIN_CLASSES);
    }
}
