#include "tools/cli/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cli/temp_folder.h"

namespace weir::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(OutputFile, HasItsNameOnlyWhenItIsWhole) {
  const TempFolder folder;
  auto file = OutputFile::Create(folder.Path("out"));
  ASSERT_TRUE(file.ok()) << file.status();
  (*file)->buffer()->append("one\n");
  ASSERT_TRUE((*file)->Flush(1).ok());
  ASSERT_EQ(folder.List().size(), 1u);
  EXPECT_THAT(folder.List()[0], HasSubstr("out.tmp-"));
  (*file)->buffer()->append("two\n");
  ASSERT_TRUE((*file)->Commit().ok());
  EXPECT_THAT(folder.List(), ElementsAre("out"));
  EXPECT_EQ(folder.Read("out"), "one\ntwo\n");
  file->reset();
  EXPECT_THAT(folder.List(), ElementsAre("out"));
}

TEST(OutputFile, LeavesNothingWithoutCommit) {
  const TempFolder folder;
  { auto file = OutputFile::Create(folder.Path("out")); }
  EXPECT_THAT(folder.List(), IsEmpty());
}

TEST(OutputFile, LeavesWhatWasThereWithoutCommit) {
  const TempFolder folder;
  folder.Write("out", "old");
  {
    auto file = OutputFile::Create(folder.Path("out"));
    (*file)->buffer()->append("new");
  }
  EXPECT_THAT(folder.List(), ElementsAre("out"));
  EXPECT_EQ(folder.Read("out"), "old");
}

TEST(OutputFile, KeepsTheModeAndTheLinkOfWhatItReplaces) {
  const TempFolder folder;
  folder.Write("real", "old");
  ASSERT_EQ(chmod(folder.Path("real").c_str(), 0640), 0);
  ASSERT_EQ(symlink("real", folder.Path("link").c_str()), 0);
  auto file = OutputFile::Create(folder.Path("link"));
  (*file)->buffer()->append("new");
  ASSERT_TRUE((*file)->Commit().ok());
  EXPECT_EQ(folder.Read("real"), "new");
  struct stat info = {};
  ASSERT_EQ(lstat(folder.Path("link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  ASSERT_EQ(stat(folder.Path("real").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0640u);
}

TEST(OutputFile, WritesIntoADeviceDirectly) {
  auto file = OutputFile::Create("/dev/null");
  ASSERT_TRUE(file.ok()) << file.status();
  (*file)->buffer()->append("gone");
  EXPECT_TRUE((*file)->Commit().ok());
  struct stat info = {};
  ASSERT_EQ(stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

TEST(OutputFile, SaysWhatIsWrong) {
  const TempFolder folder;
  EXPECT_THAT(
      std::string(OutputFile::Create(folder.Path("")).status().message()),
      HasSubstr("is a folder"));
  EXPECT_THAT(
      std::string(OutputFile::Create(folder.Path("no/out")).status().message()),
      HasSubstr("cannot be written: No such file or directory"));
}

TEST(OutputFile, SaysThatTheDiskIsFull) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no data: no /dev/full";
  auto file = OutputFile::Create("/dev/full");
  ASSERT_TRUE(file.ok()) << file.status();
  (*file)->buffer()->append("x");
  EXPECT_THAT(std::string((*file)->Commit().message()),
              HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace weir::cli
